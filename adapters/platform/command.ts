import process from "node:process";
import { envNames } from "../../src/names.ts";

/** How a program is started. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The API of Deno for permissions, which other runtimes do not have. */
interface Permissions {
  querySync(descriptor: { readonly name: "run"; readonly command: string }): {
    readonly state: "granted" | "prompt" | "denied";
  };
}

/**
 * Why this process may not start `file`; undefined: it may. Checked first, because Deno asks for a
 * missing permission on its terminal and blocks until the question is answered.
 */
export function forbidden(file: string): string | undefined {
  const { Deno: deno } = globalThis as { readonly Deno?: { readonly permissions: Permissions } };
  if (!deno || deno.permissions.querySync({ name: "run", command: file }).state === "granted") {
    return;
  }
  return `Deno was started without --allow-run=${file}`;
}

/** Whether this process runs on Deno. */
export function isDeno(): boolean {
  return process.versions["deno"] !== undefined;
}

/**
 * Whether this process runs from the executable that has Node and the program in one file: then other files
 * of the program are started by it, and it takes no options of Node.
 */
export function isExecutable(): boolean {
  const modules = process as { getBuiltinModule?(name: string): unknown };
  const sea = modules.getBuiltinModule?.("node:sea") as { isSea(): boolean } | undefined;
  return !isDeno() && sea !== undefined && sea.isSea();
}

/** `env` without variables of the dynamic linker: Deno refuses them, unless it may start any program. */
export function withoutLoader(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(LD|DYLD)_/.test(name)));
}

const KEYS: ReadonlySet<string> = new Set(envNames("storage.encryption-key"));

/** `env` without the key of the data folder: processes that need it are told it in a pipe. */
export function withoutKeys(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !KEYS.has(name)));
}
