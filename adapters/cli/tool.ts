import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { readCommand, readConfig } from "../../src/config.ts";
import { checkTool, readTool, TOOLS } from "../../src/config/tool_flags.ts";
import { Failure } from "../../src/errors.ts";
import { CommandFailure, EXIT_CODES } from "./failure.ts";
import { print } from "./output.ts";
import { helpOf } from "./program.ts";
import { commandLine } from "./server_process.ts";
import type { CommandName } from "./table.ts";

/** Whether a word names a tool of the server, such as `backup`. */
export function isTool(name: string): boolean {
  return Object.hasOwn(TOOLS, name);
}

/**
 * Runs a tool as the server's own command line does (`adapters/tools`). A wrong command line is noticed
 * before, so that scripts can tell it from work that failed. With JSON, what it prints is gathered.
 */
export async function runTool(args: readonly string[], isJson: boolean): Promise<void> {
  const own = args.filter((word) => word !== "--json");
  const [name = ""] = own;
  if (own.includes("--help") || own.includes("-h")) {
    return void process.stdout.write(helpOf(name as CommandName));
  }
  await checkUsage(own, isJson);
  const { code, out, said } = await ran(own, isJson);
  if (!isJson) return void (process.exitCode = code);
  const messages = said.filter((line) => line.startsWith(`${name}: `))
    .map((line) => line.slice(name.length + 2));
  // The last line that is not progress is the reason.
  const reason = said.findLast((line) => !line.startsWith(`${name}: `));
  print(true, { command: name, ok: code === 0, messages, problems: out }, () => "");
  if (code === 0) return;
  const [, known] = /^\[(\w+)\]/.exec(reason ?? "") ?? [];
  const message = reason ?? `It ended with exit code ${code}`;
  throw new CommandFailure("failed", message, known === undefined ? {} : { code: known });
}

/** Reads everything that the tool will read. Throws `CommandFailure` with what is wrong. */
async function checkUsage(args: readonly string[], isJson: boolean): Promise<void> {
  try {
    const tool = readTool(args);
    if (!tool) return;
    const { env } = process;
    const { configFile } = readCommand({ env, args: tool.args });
    checkTool(tool);
    // A file that cannot be read is refused by the tool, which says why.
    const file = configFile === undefined
      ? undefined
      : await readFile(configFile, "utf8").catch(() => undefined);
    readConfig({ file, env, args: tool.args });
    if (isJson) refuseMixture(tool.name, tool.values);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const { message, code } = cause;
    throw new CommandFailure("usage", message, { cause, ...(code !== null && { code }) });
  }
}

/** A dump on standard output cannot be told from what `--json` prints there. */
function refuseMixture(name: string, { to = "-" }: Readonly<Record<string, unknown>>): void {
  if (name !== "export" || to !== "-") return;
  throw new CommandFailure("usage", `Cannot export as JSON: "--to <file>" is missing`);
}

interface Ran {
  readonly code: number;
  readonly out: readonly string[];
  /** The lines of standard error. */
  readonly said: readonly string[];
}

/** The tool as a process of its own. Without JSON, its output is that of this process. */
function ran(args: readonly string[], isJson: boolean): Promise<Ran> {
  const stdio = isJson ? "pipe" : "inherit";
  const child = spawn(process.execPath, commandLine(args), { stdio: ["inherit", stdio, stdio] });
  const read = { out: "", said: "" };
  child.stdout?.setEncoding("utf8").on("data", (piece) => void (read.out += piece));
  child.stderr?.setEncoding("utf8").on("data", (piece) => void (read.said += piece));
  // A signal of the terminal reaches it, too; this process waits for its end. On Windows passing it on
  // would end the tool before it can close what it has open.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => void (process.platform === "win32" || child.kill(signal)));
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      const lines = (text: string) => text.split("\n").filter((line) => line !== "");
      resolve({ code: code ?? EXIT_CODES.failed[0], out: lines(read.out), said: lines(read.said) });
    });
  });
}
