import type { Config } from "../../src/config.ts";
import { Failure } from "../../src/errors.ts";
import type { AuditStore } from "../../src/audit_port.ts";
import type { SessionKeyStore } from "../../src/auth/session_keys.ts";
import type { KafkaStore } from "../../src/kafka_port.ts";
import type { QueryLimits } from "../../src/introspection/request.ts";
import type { DeploymentStore, Log, SqlClient } from "../../src/ports.ts";
import type { Introspection } from "../../src/query_port.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { random } from "../platform/random.ts";
import { sqlAuditStore } from "../../src/storage/audit_store.ts";
import { sqlKafkaStore } from "../../src/storage/kafka_store.ts";
import { sqlSessionKeyStore } from "../../src/storage/session_key_store.ts";
import { withRetries } from "../../src/storage/retry.ts";
import { ManyStores } from "../../src/storage/many_stores.ts";
import type { Loss } from "../../src/storage/log/recover.ts";
import { SqlStore, type SqlStoreOptions } from "../../src/storage/sql_store.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type FolderThreads, openDataFiles } from "./files.ts";
import type { MarkFile } from "./marks.ts";
import { folderKey } from "./folder_key.ts";
import {
  type Databases,
  openDatabases,
  type Opened,
  PARTITION,
  serverLayout,
} from "./databases.ts";
import type { FolderKey } from "../libsql/file/folder_key.ts";
import { libsqlIntrospection } from "../libsql/query/introspection.ts";
import { openRemote, type Post } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import { RemoteError } from "../libsql/remote/error.ts";
import { clock } from "../platform/clock.ts";
import { SERVER_FOLD_LIMITS } from "../libsql/remote/fold_limits.ts";

/** Everything that the core needs of its databases. */
export interface Storage {
  readonly store: SqlStore | ManyStores;
  readonly partitions: number;
  readonly databases: Databases;
  readonly deployments: DeploymentStore;
  readonly kafka: KafkaStore;
  readonly audit: AuditStore;
  readonly sessionKeys: SessionKeyStore;
  readonly introspection: Introspection;
  /** The settings, with limits lowered to the largest values of the database. */
  readonly config: Config;
  /** The folder or address, for messages. Without secrets. */
  readonly place: string;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly log: Log;
  readonly post: Post | undefined;
  /** In a fleet: the current name of this process (`SqlStoreOptions`). */
  readonly owner?: (() => string) | undefined;
  /** Whether to start without data that is missing or damaged (`--accept-loss`). */
  readonly acceptLoss: boolean;
  /** Called once with `Failure` RT0029 when a file of the data is removed or replaced. */
  readonly onGone: (failure: Failure) => void;
  /** How partitions of a data folder are opened by other threads. Absent: all are opened here. */
  readonly threads?: FolderThreads | undefined;
}

/**
 * Opens the database of the settings: one on a server, or else files in the data folder, which is
 * locked. Rejects with `Failure` when it cannot be used.
 */
export async function openStorage(config: Config, options: StorageOptions): Promise<Storage> {
  // Read first: a key that would not be used is refused.
  const key = await folderKey(config);
  return config["storage.database-url"] === ""
    ? await openFolder(config, options, key)
    : await openServer(config, options);
}

/**
 * Larger values are first written in pieces (decision 048): one commit of more than this would hold up
 * other commits for longer than the commits of its pieces do.
 */
const STAGED_BYTES_MIN = 1024 * 1024;
/**
 * Bytes of rows from this size on are written once, beside the log (decision 073): a fold of smaller
 * ones costs less than a row of their own.
 */
const VALUE_BYTES_MIN = 8 * 1024;

async function openFolder(
  config: Config,
  options: StorageOptions,
  key: FolderKey | undefined,
): Promise<Storage> {
  const { log } = options;
  const { marks, ...databases } = await openDataFiles(config, { ...options, key });
  const storage = storesOf(databases, config, {
    ...folderStoreOptions(config, marks, options),
    onDeployed: (version) => marks.deployed(version),
  });
  return { ...withQueries(storage, config, log), config, place: config["base-dir"] };
}

/** How the partitions of a data folder are stored, in whichever thread. */
export function folderStoreOptions(
  config: Config,
  marks: MarkFile,
  { log, acceptLoss }: Pick<StorageOptions, "log" | "acceptLoss">,
): SqlStoreOptions {
  return {
    ...commonStoreOptions(config),
    stagedBytesMin: STAGED_BYTES_MIN,
    valueBytesMin: VALUE_BYTES_MIN,
    onDurable: (lease, place) => marks.committed(lease, place),
    ...(acceptLoss && { acceptLoss: logLoss(log) }),
  };
}

function commonStoreOptions(config: Config) {
  return {
    clock,
    retryMs: config["storage.retry-timeout"],
    foldRowsMax: config["storage.fold-rows"],
    foldBytesMax: config["storage.fold-bytes"],
  };
}

/** Logs the commits that are given up because they cannot be read. */
function logLoss(log: Log): (loss: Loss) => void {
  return (loss) => log("warn", "Commits of a damaged log were given up", { ...loss });
}

const QUERIES_WAITING_MAX = 100;

/** Adds queries to a store. They are closed first, since they ask it to fold. */
function withQueries(
  storage: ReturnType<typeof storesOf>,
  config: Config,
  log: Log,
): Pick<Storage, "introspection"> & ReturnType<typeof storesOf> {
  const introspection = queriesOf(storage.databases, {
    flush: () => storage.store.flushAll(),
    config,
    log,
  });
  const close = async () => {
    await introspection.close();
    await storage.close();
  };
  return { ...storage, introspection, close };
}

/**
 * Queries of all `databases` of an installation; deployments are read from the first one. `flush`:
 * folds all commits into their tables, also those of partitions that other processes own.
 */
function queriesOf(
  databases: Databases,
  { flush, config, log }: {
    readonly flush: () => Promise<void>;
    readonly config: Config;
    readonly log: Log;
  },
): Introspection {
  return libsqlIntrospection({
    databases: databases.all.map(({ address }) => address),
    flush,
    clock,
    log,
    limits: queryLimits(config),
    queriesMax: config["admin.query-engine.concurrent-queries-limit"],
    waitingMax: QUERIES_WAITING_MAX,
  });
}

function queryLimits(config: Config): QueryLimits {
  return {
    timeMs: config["admin.query-engine.timeout"],
    rowsMax: config["admin.query-engine.rows"],
    memoryBytesMax: config["admin.query-engine.memory-size"],
    spoolBytesMax: config["admin.query-engine.result-size"],
  };
}

/** A server keeps rows of 5 MB, most of which may be one value. */
const SERVER_VALUE_BYTES_MAX = 4 * 1024 * 1024;

async function openServer(config: Config, options: StorageOptions): Promise<Storage> {
  const { log, post, owner, acceptLoss } = options;
  const [typed, token] = [config["storage.database-url"], config["storage.auth-token"]];
  const timeoutMs = config["storage.request-timeout"];
  const retryMs = config["storage.retry-timeout"];
  const open = async (partition: number): Promise<Opened> => {
    const address = remoteAddress(typed.replaceAll(PARTITION, String(partition)), token);
    const client = await openRemote({ ...address, timeoutMs, ...(post && { post }) });
    await prepare(client, log, retryMs);
    return { client, address: { kind: "server", ...address, timeoutMs } };
  };
  const databases = await openDatabases(open, {
    wanted: serverLayout(config, typed),
    retry: { clock, retryMs },
    isAddressed: true,
  });
  const storage = storesOf(databases, config, {
    ...commonStoreOptions(config),
    ...SERVER_FOLD_LIMITS,
    ...(owner && { owner }),
    ...(acceptLoss && { acceptLoss: logLoss(log) }),
  });
  const { url: place } = remoteAddress(typed.replaceAll(PARTITION, "0"), token);
  return { ...withQueries(storage, config, log), config: lowered(config, log), place };
}

/** Migrates a database, and waits for its server if it is not reachable yet, which is logged once. */
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
    await withRetries(client, act, { clock, retryMs });
  } catch (cause) {
    if (!(cause instanceof RemoteError)) throw cause;
    const hint = cause.isForbidden ? `; look at "storage.auth-token"` : "";
    throw Failure.plain(503, `Cannot open the database: ${cause.message}${hint}`, { cause });
  }
}

interface StoresOptions extends SqlStoreOptions {
  readonly onDeployed?: (version: number) => void;
}

function storesOf(
  databases: Databases,
  config: Config,
  { owner, onDeployed, ...options }: StoresOptions,
): Pick<
  Storage,
  "store" | "partitions" | "databases" | "deployments" | "kafka" | "audit" | "sessionKeys" | "close"
> {
  const { all: [first], all, here, layout: { partitions } } = databases;
  const retryMs = config["storage.retry-timeout"];
  // Only the first database records the owners of partitions.
  const each = new Map(
    here.map((at) => [
      at,
      new SqlStore(all[at]!.client, at === 0 && owner ? { ...options, owner } : options),
    ]),
  );
  const only = each.get(0);
  const store = only && all.length === 1 ? only : new ManyStores(each);
  const close = async () => {
    await store.close();
    await databases.close();
  };
  const deployments = sqlDeploymentStore(first.client, {
    clock,
    retryMs,
    onDurable: onDeployed,
  });
  const kafka = sqlKafkaStore(first.client, { clock, retryMs });
  const audit = sqlAuditStore(first.client, { clock, retryMs, random });
  const sessionKeys = sqlSessionKeyStore(first.client, { clock, retryMs });
  return { store, partitions, databases, deployments, kafka, audit, sessionKeys, close };
}

/** Lowers limits, so that larger values are refused at once: writing one would stop its partition. */
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
