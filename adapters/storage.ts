import type { Config } from "../src/config.ts";
import { Failure } from "../src/errors.ts";
import type { QueryLimits } from "../src/introspection/request.ts";
import type { DeploymentStore, Introspection, Log, SqlClient } from "../src/ports.ts";
import { sqlDeploymentStore } from "../src/storage/deployment_store.ts";
import { insist } from "../src/storage/patience.ts";
import { SqlStore } from "../src/storage/sql_store.ts";
import { migrate } from "../src/storage/tables.ts";
import { openDataFolder } from "./data_folder.ts";
import { openLibsql, openLock } from "./libsql.ts";
import { nearCommits } from "./libsql_near.ts";
import { libsqlIntrospection } from "./libsql_query.ts";
import { openRemote, type Post } from "./libsql_remote.ts";
import { remoteAddress } from "./libsql_remote_address.ts";
import { RemoteError } from "./libsql_remote_error.ts";
import { clock } from "./platform.ts";
import { VERSION } from "./version.ts";

/** Where everything is kept, as the core asks for it. */
export interface Storage {
  readonly store: SqlStore;
  readonly deployments: DeploymentStore;
  /** Queries of a database file. One on a server has none. */
  readonly introspection?: Introspection;
  /** The settings, with limits lowered to what the database can keep. */
  readonly config: Config;
  /** Where it is, for people. Without secrets. */
  readonly place: string;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly log: Log;
  readonly post: Post | undefined;
}

/**
 * Opens the database the settings name: one on a server, or else a file in the data folder, which
 * is locked. Rejects with `Failure` when it cannot be used.
 */
export async function openStorage(config: Config, options: StorageOptions): Promise<Storage> {
  return config["storage.database-url"] === ""
    ? await openFolder(config, options)
    : await openServer(config, options);
}

async function openFolder(config: Config, { log }: StorageOptions): Promise<Storage> {
  const folder = await openDataFolder(config["base-dir"], { madeBy: VERSION, openLock });
  const synchronous = config["storage.synchronous"] === "full" ? "FULL" : "NORMAL";
  const options = { url: folder.databaseUrl, synchronous } as const;
  const client = nearCommits(await openLibsql(options), options);
  await migrate(client);
  const storage = stores(client, config);
  const introspection = libsqlIntrospection({
    url: folder.databaseUrl,
    flush: () => storage.store.flushAll(),
    clock,
    log,
    limits: queryLimits(config),
    queriesMax: config["admin.query-engine.concurrent-queries-limit"],
    waitingMax: QUERIES_WAITING_MAX,
  });
  const close = async () => {
    await introspection.close();
    await storage.close();
    await folder.close();
  };
  return { ...storage, introspection, config, place: config["base-dir"], close };
}

const QUERIES_WAITING_MAX = 100;

function queryLimits(config: Config): QueryLimits {
  return {
    timeMs: config["admin.query-engine.timeout"],
    rowsMax: config["admin.query-engine.rows"],
    memoryBytesMax: config["admin.query-engine.memory-size"],
    spoolBytesMax: config["admin.query-engine.result-size"],
  };
}

/** A server keeps rows of 5 MB, of which one value is the most. */
const SERVER_VALUE_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Commits wait for each batch of a fold, and a server takes its time for each however small. So they
 * are fewer, and as large as they may be: values of that size must still fit in.
 */
const SERVER_SLICES = { sliceRowsMax: 4_000, sliceBytesMax: 512 * 1024 } as const;

async function openServer(config: Config, { log, post }: StorageOptions): Promise<Storage> {
  const address = remoteAddress(config["storage.database-url"], config["storage.auth-token"]);
  const timeoutMs = config["storage.request-timeout"];
  const client = openRemote({ ...address, timeoutMs, ...(post && { post }) });
  await prepare(client, log, config["storage.retry-timeout"]);
  return {
    ...stores(client, config, SERVER_SLICES),
    config: lowered(config, log),
    place: address.url,
  };
}

/** Waits for a server that is not there yet, and says so once. */
async function prepare(client: SqlClient, log: Log, retryMs: number): Promise<void> {
  let isSaid = false;
  const act = () =>
    migrate(client).catch((cause) => {
      if (client.isLost?.(cause) && !isSaid) {
        isSaid = true;
        log("warn", "Waiting for the database", { cause: String(cause), retryMs });
      }
      throw cause;
    });
  try {
    await insist(client, act, { clock, retryMs });
  } catch (cause) {
    if (!(cause instanceof RemoteError)) throw cause;
    const hint = cause.isForbidden ? `; look at "storage.auth-token"` : "";
    throw Failure.plain(503, `Cannot open the database: ${cause.message}${hint}`, { cause });
  }
}

function stores(
  client: SqlClient,
  config: Config,
  slices: Partial<typeof SERVER_SLICES> = {},
): Pick<Storage, "store" | "deployments" | "close"> {
  const retryMs = config["storage.retry-timeout"];
  const store = new SqlStore(client, {
    ...slices,
    clock,
    retryMs,
    foldRowsMax: config["storage.fold-rows"],
    foldBytesMax: config["storage.fold-bytes"],
  });
  const close = async () => {
    await store.close();
    await client.close();
  };
  return { store, deployments: sqlDeploymentStore(client, { clock, retryMs }), close };
}

/** Larger values are refused where they come in: written, they would stop their partition. */
function lowered(config: Config, log: Log): Config {
  const keys = ["ingress.request-size-limit", "worker.invoker.message-size-limit"] as const;
  const limits = keys.filter((key) => config[key] > SERVER_VALUE_BYTES_MAX);
  if (limits.length === 0) return config;
  log("info", "Limits are lowered to what a database server keeps in a row", {
    limits,
    bytes: SERVER_VALUE_BYTES_MAX,
  });
  const lower = Object.fromEntries(limits.map((key) => [key, SERVER_VALUE_BYTES_MAX]));
  return { ...config, ...lower };
}
