import process from "node:process";
import { CommanderError } from "commander";
import type { Given } from "./about.ts";
import { completionsOf } from "./completions.ts";
import { CommandFailure, EXIT_CODES, usageFailure } from "./failure.ts";
import { printFailure } from "./output.ts";
import { helpOf, programOf } from "./program.ts";
import { type CommandName, isCommand } from "./table.ts";

/** A command: it prints its result, and rejects with `CommandFailure`. `isJson`: for programs. */
export type Run = (given: Given, isJson: boolean) => Promise<void>;

/** What the commands load is loaded when they run. Tools and `serve` read their command lines themselves. */
type Own = Exclude<CommandName, "serve" | "backup" | "export" | "import" | "reshard" | "verify">;
const RUNS: Readonly<Record<Own, () => Promise<Run>>> = {
  dev: async () => (await import("./dev.ts")).dev,
  register: async () => (await import("./register.ts")).register,
  call: async () => (await import("./call.ts")).call,
  send: async () => (await import("./call.ts")).send,
  invocations: async () => (await import("./invocations.ts")).invocations,
  sql: async () => (await import("./sql.ts")).sql,
  check: async () => (await import("./check.ts")).check,
  version: async () => (await import("./version.ts")).version,
  completions: () => Promise.resolve(completions),
};

/** The command line of `perdure`, without the program, to the end of its process. Never rejects. */
export async function runCli(args: readonly string[]): Promise<void> {
  // `head` may have ended: that is no failure of ours.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const at = args.includes("--") ? args.indexOf("--") : args.length;
  const [own, rest] = [args.slice(0, at), args.slice(at + 1)];
  const isJson = own.includes("--json");
  try {
    await dispatch(own, rest, isJson);
  } catch (cause) {
    const failure = failureOf(cause, args);
    if (failure) printFailure(isJson, failure);
    process.exitCode = failure ? EXIT_CODES[failure.exit][0] : 0;
  }
}

/** `rest`: what stands behind `--`. */
async function dispatch(
  args: readonly string[],
  rest: readonly string[],
  isJson: boolean,
): Promise<void> {
  const [name = "", other = ""] = args;
  if (rest.length > 0 && name !== "dev") {
    throw usageFailure(`Cannot read the command line: only "dev" takes "--"`);
  }
  if (name === "help" && isCommand(other)) return void process.stdout.write(helpOf(other));
  const { runTool, isTool } = await import("./tool.ts");
  if (isTool(name)) return await runTool(args, isJson);
  let parsed: { readonly name: Own; readonly given: Omit<Given, "rest"> } | undefined;
  await programOf((name, given) => void (parsed = { name: name as Own, given }))
    .parseAsync([...args], { from: "user" });
  if (!parsed) throw usageFailure("Cannot do anything: there is no command");
  const run = await RUNS[parsed.name]();
  await run({ ...parsed.given, rest }, isJson);
}

const completions: Run = ({ arguments: [shell = ""] }) => {
  process.stdout.write(completionsOf(shell));
  return Promise.resolve();
};

/** Undefined: it is no failure, but help that was asked for. */
function failureOf(cause: unknown, args: readonly string[]): CommandFailure | undefined {
  if (cause instanceof CommandFailure) return cause;
  if (!(cause instanceof CommanderError)) throw cause;
  if (cause.exitCode === 0) return undefined;
  const [name = ""] = args;
  const why = cause.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ").trim();
  return usageFailure(`Cannot read the command line: ${why}`, isCommand(name) ? name : undefined);
}
