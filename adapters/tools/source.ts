import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import type { Config } from "../../src/config.ts";
import { schemaDefaults } from "../../src/config/schema_defaults.ts";
import { Failure } from "../../src/errors.ts";
import { controlsOf } from "../../src/model/controls.ts";
import { Schema } from "../../src/model/schema.ts";
import { deliverAll } from "../../src/partition/deliver_all.ts";
import { Fenced, type Lease, type SqlClient } from "../../src/ports.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { ManyStores } from "../../src/storage/many_stores.ts";
import type { Installation } from "../../src/storage/move/installation.ts";
import { epochsOf } from "../../src/storage/move/new_installation.ts";
import { type RetryLimits, withRetries } from "../../src/storage/retry.ts";
import { compile, statement } from "../../src/storage/codec/sql_text.ts";
import { SqlStore } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { openDataFolder } from "../installation/folder.ts";
import { folderKey } from "../installation/folder_key.ts";
import {
  type Databases,
  openDatabases,
  type Opened,
  PARTITION,
} from "../installation/databases.ts";
import { openLibsql, openLock } from "../libsql/file/open.ts";
import { openRemote } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import { clock } from "../platform/clock.ts";
import { VERSION } from "../platform/version.ts";
import type { ToolContext } from "./context.ts";

const HAS_META = compile(sql`select 1 from sqlite_master where name = 'meta'`);
const NODES = compile(sql`select id, beat from node order by id`);
const LOGGED = compile(sql`select count(*) as n from log`);
/** Heartbeats that are waited for, to see whether a member is alive. */
const BEATS = 3;

/** Data under our lock and leases: its log is folded, and all messages are delivered. */
export interface Source extends Installation {
  /** The highest epoch of all writes. */
  readonly epoch: number;
  /** Rejects with `Failure` RT0005 when another process has claimed a partition since. */
  assertUnclaimed(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the data of the settings with the lock of its folder and the leases of all its partitions. It
 * changes only what a start would change: it migrates to the current format, folds the log and
 * delivers messages between partitions. Rejects with `Failure` when there is no data, when another
 * process has it, and as the server does.
 */
export async function openSource(config: Config, context: ToolContext): Promise<Source> {
  const retry = { clock, retryMs: config["storage.retry-timeout"] };
  const isServer = config["storage.database-url"] !== "";
  if (isServer) await folderKey(config);
  const { databases, close } = isServer
    ? await openServer(config, context, retry)
    : await openFolder(config);
  try {
    const { all, layout: { partitions }, of } = databases;
    const installation = { partitions, clients: all.map(({ client }) => client), of, retry };
    if (isServer) await refuseFleet(installation, config);
    const leases = await quiesce(installation, config, context);
    return {
      ...installation,
      epoch: Math.max(...leases.map(({ epoch }) => epoch)),
      assertUnclaimed: () => checkLeases(installation, leases),
      close,
    };
  } catch (cause) {
    await close();
    throw cause instanceof Fenced ? takenOver() : cause;
  }
}

interface Data {
  readonly databases: Databases;
  close(): Promise<void>;
}

async function openFolder(config: Config): Promise<Data> {
  const { fingerprint, databaseKey } = await folderKey(config) ?? {};
  const options = { madeBy: VERSION, openLock, mustExist: true, fingerprint };
  const folder = await openDataFolder(config["base-dir"], options);
  const open = async (partition: number): Promise<Opened> => {
    const url = folder.partitionUrl(partition);
    if (!existsSync(fileURLToPath(url))) {
      const what = `the file of partition ${partition} is missing`;
      throw Failure.plain(404, `Cannot use "${config["base-dir"]}": ${what}`);
    }
    const client = await openLibsql({ url, databaseKey });
    await migrate(client);
    return { client, address: { kind: "file", url, databaseKey } };
  };
  try {
    const databases = await openDatabases(open, {
      wanted: ANY,
      retry: { retryMs: 0 },
      isAddressed: false,
    });
    const close = async () => {
      await databases.close();
      await folder.close();
    };
    return { databases, close };
  } catch (cause) {
    await folder.close();
    throw cause;
  }
}

/** The layout of new data, which is not used: existing data has its own. */
const ANY = { partitions: 1, databases: "one" } as const;

async function openServer(
  config: Config,
  { post }: ToolContext,
  retry: RetryLimits,
): Promise<Data> {
  const [typed, token] = [config["storage.database-url"], config["storage.auth-token"]];
  const timeoutMs = config["storage.request-timeout"];
  const open = async (partition: number): Promise<Opened> => {
    const address = remoteAddress(typed.replaceAll(PARTITION, String(partition)), token);
    const client = await openRemote({ ...address, timeoutMs, ...(post && { post }) });
    const findMeta = () => client.batch("read", [statement(HAS_META)]);
    const [found = []] = await withRetries(client, findMeta, retry);
    if (found.length === 0) throw Failure.plain(404, `Cannot use "${address.url}": it is empty`);
    await withRetries(client, () => migrate(client), retry);
    return { client, address: { kind: "server", ...address, timeoutMs } };
  };
  const databases = await openDatabases(open, {
    wanted: { ...ANY, databases: typed.includes(PARTITION) ? "each" : "one" },
    retry,
    isAddressed: true,
  });
  return { databases, close: () => databases.close() };
}

/** A database server has no lock. Members of a fleet are noticed by their heartbeats. */
async function refuseFleet({ clients, retry }: Installation, config: Config): Promise<void> {
  const [first] = clients;
  if (!first) return;
  const readBeats = async () => {
    const read = () => first.batch("read", [statement(NODES)]);
    const [rows = []] = await withRetries(first, read, retry);
    return rows;
  };
  const before = await readBeats();
  if (before.length === 0) return;
  await sleep(BEATS * config["fleet.heartbeat-interval"]);
  const beats = new Map(before.map(({ id, beat }) => [id, beat]));
  for (const { id, beat } of await readBeats()) if (beats.get(id) !== beat) throw takenOver();
}

/** Claims all partitions, delivers messages and folds the log. Returns the leases. */
async function quiesce(
  { clients, partitions }: Installation,
  config: Config,
  { log }: ToolContext,
): Promise<Lease[]> {
  const [first] = clients;
  const options = { clock, retryMs: config["storage.retry-timeout"] };
  const stores = clients.map((client) => new SqlStore(client, options));
  const [only] = stores;
  const store = only && stores.length === 1 ? only : new ManyStores(stores.entries());
  try {
    const leases: Lease[] = [];
    for (let number = 0; number < partitions; number++) leases.push(await store.claim(number));
    const schema = await schemaOf(first, config, options);
    const brought = await deliverAll({ store, leases, clock, schema });
    if (brought > 0) log("info", "Messages under way were brought to where they go", { brought });
    await store.flushAll();
    for (const client of clients) await refuseLog(client);
    return leases;
  } finally {
    await store.close();
  }
}

/** The schema that partitions of this data would run with. */
async function schemaOf(
  first: SqlClient | undefined,
  config: Config,
  retry: RetryLimits,
): Promise<Schema> {
  const defaults = schemaDefaults(config);
  if (!first) return new Schema([], defaults);
  const { deployments, controls } = await sqlDeploymentStore(first, retry).load();
  return new Schema(deployments, defaults, controlsOf(controls));
}

async function refuseLog(client: SqlClient): Promise<void> {
  const [[row] = []] = await client.batch("read", [statement(LOGGED)]);
  if (row?.["n"] === 0) return;
  throw Failure.plain(
    500,
    "Cannot read the data: its log holds rows of no partition that there is",
  );
}

async function checkLeases(installation: Installation, leases: readonly Lease[]): Promise<void> {
  const epochs = await epochsOf(installation);
  if (leases.some(({ partition, epoch }) => epochs.get(partition) !== epoch)) throw takenOver();
}

function takenOver(): Failure {
  return new Failure("RT0005", "Cannot use the data: another process serves it");
}
