import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  type Command,
  isDeno,
  isExecutable,
  withoutKeys,
  withoutLoader,
} from "../../platform/command.ts";
import type { QueryAddress } from "./messages.ts";

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
  const env = withoutKeys(process.env);
  if (isExecutable()) {
    const given = env["NODE_OPTIONS"] === undefined ? "" : `${env["NODE_OPTIONS"]} `;
    return { file, args: [script], env: { ...env, NODE_OPTIONS: `${given}${heap}` } };
  }
  if (!isDeno()) return { file, args: [heap, script], env };
  const hosts = databases.filter(({ kind }) => kind === "server").map(({ url }) =>
    new URL(url).host
  );
  const allowed = ["--allow-read", "--allow-env", "--allow-ffi", "--allow-sys"];
  if (hosts.length > 0) allowed.push(`--allow-net=${hosts.join(",")}`);
  const args = ["run", "--no-prompt", ...allowed, `--v8-flags=${heap}`, script];
  return { file, args, env: withoutLoader(env) };
}
