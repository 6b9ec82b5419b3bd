import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const ROOT = path.resolve(import.meta.dirname, "../..");
const DIST = path.join(ROOT, "dist");
const OLD_MS = 30 * 60_000;
let built: string | undefined;
let deno: string | undefined;

/**
 * Builds the Node server the way `npm run build` does, into a folder of this process's own, so that
 * tests run what the sources say now and do not build over each other. Answers the entry's path.
 */
export function nodeEntry(): string {
  // `npm test` has built what the sources say now: its many processes need not do so again.
  if (process.env["TEST_BUILT"] === "1") return path.join(DIST, "node.mjs");
  if (built !== undefined) return path.join(built, "node.mjs");
  buildUi();
  // Within the repository: the server finds its packages from where it lies.
  mkdirSync(DIST, { recursive: true });
  sweep();
  const folder = mkdtempSync(path.join(DIST, "test-"));
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
  const [, ...args] = (scripts["build:server"] as string).split(" ");
  const own = args.map((arg) => arg === "--outdir=dist" ? `--outdir=${folder}` : arg);
  execFileSync(path.join(ROOT, "node_modules/.bin/esbuild"), own, { cwd: ROOT, stdio: "pipe" });
  return path.join(built = folder, "node.mjs");
}

/** Builds the UI, which every entry embeds, unless `npm test` has. */
export function buildUi(): void {
  if (process.env["TEST_BUILT"] === "1") return;
  execFileSync(process.execPath, [path.join(ROOT, "adapters/ui/build.mjs")], { stdio: "pipe" });
}

/** Test processes are often ended before they could clean up: those who come later do it. */
function sweep(): void {
  for (const name of readdirSync(DIST).filter((name) => name.startsWith("test-"))) {
    const folder = path.join(DIST, name);
    const madeAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - madeAt > OLD_MS) rmSync(folder, { recursive: true, force: true });
  }
}

/** How `deno task serve` starts the server, permissions included. */
export function denoCommand(): readonly [string, ...string[]] {
  buildUi();
  const [, ...args] = denoTask("serve");
  const entry = args.pop() ?? "";
  return [denoProgram(), ...args, path.join(ROOT, entry)];
}

/** The words of the command of a task of `deno.json`, with the program that it asks for. */
export function denoTask(name: string): readonly string[] {
  const { tasks } = JSON.parse(readFileSync(path.join(ROOT, "deno.json"), "utf8"));
  const task = tasks[name] as string | { readonly command: string };
  const command = typeof task === "string" ? task : task.command;
  return command.replaceAll(EXEC_PATH, denoProgram()).split(" ");
}

/** How a task names the program that runs it. */
const EXEC_PATH = `"$(deno eval -p 'Deno.execPath()')"`;

/** The one npm installs is a script that starts the real one and passes no signal on: this one. */
export function denoProgram(): string {
  return deno ??= findDeno();
}

function findDeno(): string {
  const script = path.join(ROOT, "node_modules/.bin/deno");
  return execFileSync(script, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" })
    .trim();
}
