import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { nodeEntry } from "../support/build.ts";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

/** The built command, beside the server that other tests start. */
export const program = () => path.join(path.dirname(nodeEntry()), "perdure.mjs");

/** Runs `perdure` to its end. `out`: standard output, `said`: standard error. */
export function perdure(
  args: readonly string[],
  { env = {}, input = "" }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program(), ...args], { env: { ...process.env, ...env } });
  const read = { out: "", said: "" };
  child.stdout.setEncoding("utf8").on("data", (piece) => void (read.out += piece));
  child.stderr.setEncoding("utf8").on("data", (piece) => void (read.said += piece));
  child.stdin.on("error", () => {}).end(input);
  return new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve({ code, ...read }));
  });
}
