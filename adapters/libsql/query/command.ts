import process from "node:process";
import { fileURLToPath } from "node:url";
import type { QueryAddress } from "./messages.ts";

/** How a program is started. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * How a query process is started: by the runtime that runs the server, on Deno with the permissions
 * that it needs. `program`: its module. `heapBytesMax`: the limit of its JavaScript heap.
 */
export function queryCommand(
  program: URL,
  { databases, heapBytesMax }: {
    readonly databases: readonly QueryAddress[];
    readonly heapBytesMax: number;
  },
): Command {
  const heap = `--max-old-space-size=${Math.ceil(heapBytesMax / 1024 ** 2)}`;
  const [file, script] = [process.execPath, fileURLToPath(program)];
  if (!isDeno()) return { file, args: [heap, script], env: process.env };
  const hosts = databases.filter(({ kind }) => kind === "server").map(({ url }) =>
    new URL(url).host
  );
  const allowed = ["--allow-read", "--allow-env", "--allow-ffi", "--allow-sys"];
  if (hosts.length > 0) allowed.push(`--allow-net=${hosts.join(",")}`);
  return {
    file,
    args: ["run", "--no-prompt", ...allowed, `--v8-flags=${heap}`, script],
    env: withoutLoader(process.env),
  };
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

function isDeno(): boolean {
  return process.versions["deno"] !== undefined;
}

/** Deno refuses variables of the dynamic linker, unless it may start any program. */
function withoutLoader(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(LD|DYLD)_/.test(name)));
}
