import { buildSync } from "esbuild";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openLibsql } from "../../adapters/libsql/file/open.ts";
import {
  type IntrospectionOptions,
  libsqlIntrospection,
} from "../../adapters/libsql/query/introspection.ts";
import type { Introspection, RunningAttempt } from "../../src/query_port.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { built } from "../storage/_built.ts";

const root = new URL("../../", import.meta.url);

/** Node 20 runs no TypeScript in threads. */
export function builtProgram(): URL {
  const name = `libsql_query_child.${process.pid}.mjs`;
  // Inside node_modules, so that what is not bundled is found from there.
  const file = new URL(`node_modules/.cache/perdure-test-introspection/${name}`, root);
  buildSync({
    entryPoints: [fileURLToPath(new URL("adapters/libsql/query/child.ts", root))],
    outfile: fileURLToPath(file),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  return pathToFileURL(fileURLToPath(file));
}

/** A database file with some rows, and its readers. */
export interface Small {
  introspection(options?: Partial<IntrospectionOptions>): Introspection;
  /** Whether its tables still are what they were. */
  isWhole(): Promise<boolean>;
  close(): Promise<void>;
}

export const LIMITS = {
  rowsMax: 100_000,
  timeMs: 10_000,
  memoryBytesMax: 1024 ** 3,
  spoolBytesMax: 64 * 1024 * 1024,
} as const;

const FILL = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
  insert into state (object, name, value)
  select 'Cart/k' || (i % 10), 'x' || i, cast('v' || i as blob) from n`;

/** A database with so many rows of state, each called `x` and a number. */
export async function openSmall(count: number): Promise<Small> {
  const folder = mkdtempSync(path.join(tmpdir(), "introspection-"));
  const url = pathToFileURL(path.join(folder, "perdure.db")).href;
  const client = await openLibsql({ url, worker: built("adapters/libsql/file/worker.ts") });
  await migrate(client);
  await client.batch("write", [{ sql: FILL, args: [count] }]);
  const program = builtProgram();
  const opened: Introspection[] = [];
  const rows = async () => {
    const [[row] = []] = await client.batch("read", [
      { sql: "select count(*) as n from state", args: [] },
    ]);
    return Number(row?.["n"]);
  };
  return {
    introspection: (options = {}) => {
      const made = libsqlIntrospection({
        databases: [{ kind: "file", url }],
        program,
        limits: LIMITS,
        clock: Date,
        log: () => {},
        flush: () => Promise.resolve(),
        queriesMax: 4,
        waitingMax: 100,
        ...options,
      });
      opened.push(made);
      return made;
    },
    isWhole: async () => await rows() === count,
    close: async () => {
      await Promise.all(opened.map((one) => one.close()));
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The whole answer to a statement, as text of JSON. Rejects with its `Failure`. */
export async function answerOf(
  introspection: Introspection,
  sql: string,
  running: readonly RunningAttempt[] = [],
): Promise<string> {
  const stream = await introspection.query({ sql, format: "json", version: "1", running });
  return await new Response(stream).text();
}

/** The rows of a statement. */
export async function rowsOf(
  introspection: Introspection,
  sql: string,
  running: readonly RunningAttempt[] = [],
): Promise<unknown[]> {
  return JSON.parse(await answerOf(introspection, sql, running)).rows;
}
