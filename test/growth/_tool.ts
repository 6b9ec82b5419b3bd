import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { inspectDataFolder } from "../../adapters/installation/folder.ts";
import type { SqlClient } from "../../src/ports.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, freePorts } from "../support/child.ts";
import { type RuntimeName, Server } from "../support/server.ts";

export interface ToolOptions {
  readonly runtime?: RuntimeName;
  readonly env?: NodeJS.ProcessEnv;
}

/** The command line of the server, with its settings as flags. */
export function startTool(
  args: readonly string[],
  { runtime = "node", env = {} }: ToolOptions = {},
): Child {
  const [file, ...others] = runtime === "node" ? [process.execPath, nodeEntry()] : denoCommand();
  return new Child([file, ...others, ...args], env);
}

export interface Ended {
  readonly end: number | NodeJS.Signals;
  readonly output: string;
}

/** Runs it to its end. */
export async function runTool(args: readonly string[], options: ToolOptions = {}): Promise<Ended> {
  const child = startTool(args, options);
  return { end: await child.ended(), output: child.output() };
}

/** Runs it, and it must succeed. */
export async function mustRun(args: readonly string[], options: ToolOptions = {}): Promise<string> {
  const { end, output } = await runTool(args, options);
  if (end !== 0) throw new Error(`${args.join(" ")} ended with ${end}: ${output}`);
  return output;
}

/** A folder in which every test keeps what it makes. */
export function newRoot(): string {
  return mkdtempSync(path.join(tmpdir(), "growth-"));
}

/** A server that is not started, on a folder. */
export async function serverOn(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  return new Server({ runtime: "node", settings }, await freePorts(2), folder);
}

/** The databases of a data folder that no process has. */
export async function databasesIn(folder: string): Promise<Installation> {
  const { partitionUrl } = await inspectDataFolder(folder);
  const first = await openLocal({ url: partitionUrl(0) });
  const [meta = []] = await first.batch("read", [{ sql: "select * from meta", args: [] }]);
  const told = new Map(meta.map(({ name, value }) => [name, value]));
  const partitions = Number(told.get("partitions"));
  const clients: SqlClient[] = [first];
  for (let i = 1; i < partitions && told.get("databases") === "each"; i++) {
    clients.push(await openLocal({ url: partitionUrl(i) }));
  }
  const of = (partition: number) => clients[partition] ?? first;
  return { partitions, clients, of, retry: { retryMs: 0 } };
}

/** A data folder with one database, that holds so many rows of state and nothing else. */
export async function filledFolder(folder: string, rows: number): Promise<void> {
  const server = await serverOn(folder);
  await server.start();
  await server.stop("SIGTERM");
  const { clients } = await databasesIn(folder);
  for (const client of clients) {
    await migrate(client);
    await client.batch("write", [{
      sql: `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
        insert into state (object, name, value) select 'svc/' || i, 'x', randomblob(800) from n`,
      args: [rows],
    }]);
    await client.close();
  }
}
