import { createApp } from "../../src/app.ts";
import type { App } from "../../src/app_options.ts";
import type { SessionKeyStore } from "../../src/auth/session_keys.ts";
import type { Config } from "../../src/config.ts";
import type { Dial } from "../../src/dial.ts";
import { Failure } from "../../src/errors.ts";
import { fetchReader } from "../../src/ingress/request_reader.ts";
import type { PartitionRange } from "../../src/model/ring.ts";
import { namedPartitions } from "../../src/placement/settings.ts";
import { partitionEndpoint } from "../../src/placement/partition_endpoint.ts";
import type { DeploymentStore, Log, SqlClient } from "../../src/ports.ts";
import type { Introspection } from "../../src/query_port.ts";
import { sqlDeploymentStore } from "../../src/storage/deployment_store.ts";
import { sqlAuditStore } from "../../src/storage/audit_store.ts";
import { sqlKafkaStore } from "../../src/storage/kafka_store.ts";
import { sqlSessionKeyStore } from "../../src/storage/session_key_store.ts";
import { egressOf } from "../../src/outbound/settings.ts";
import {
  ensureLayout,
  ensurePartition,
  type Layout,
  readPartition,
} from "../../src/storage/schema/layout.ts";
import { withRetries } from "../../src/storage/retry.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { PARTITION } from "../installation/databases.ts";
import { DURABLE_STORE_LIMITS, durableSqlite, type DurableStorage } from "./durable_sqlite.ts";
import { openRemote } from "../libsql/remote/open.ts";
import { remoteAddress } from "../libsql/remote/address.ts";
import { random } from "../platform/random.ts";
import { VERSION } from "../platform/version.ts";
import { built } from "../ui/embedded.ts";
import { SERVER_FOLD_LIMITS } from "../libsql/remote/fold_limits.ts";
import { AlarmedStore, type Alarms, type AlarmStorage } from "./alarm.ts";
import { workerdDial } from "./dial.ts";
import type { Connect } from "./socket_stream.ts";
import { INTERNAL_SECRET, type Peer, Peers } from "./peers.ts";
import type { IsolateClock } from "./platform.ts";
import { durableIntrospection, type QueryStorage } from "./introspection.ts";

/** Queries that wait for another one to end. */
const QUERIES_WAITING_MAX = 20;
/** Bytes of the envelope around the largest message between partitions. */
const ENVELOPE_BYTES = 1024 * 1024;

/** The parts of an object while it is awake. */
export interface Life {
  readonly app: App;
  readonly store: AlarmedStore;
  /** Deployments in this object's own rows: only the object of partition 0 stores them. */
  readonly deployments: DeploymentStore;
  /** Keys of sessions in this object's own rows, which are those of partition 0 for all objects. */
  readonly sessionKeys: SessionKeyStore;
  /** Answers requests of other partitions. */
  readonly answerPeer: (request: Request) => Promise<Response>;
}

export interface LifeOptions {
  readonly storage: DurableStorage & QueryStorage & AlarmStorage;
  readonly config: Config;
  readonly clock: IsolateClock;
  readonly alarms: Alarms;
  readonly log: Log;
  /** The partition of this object, if a request has named it. */
  readonly partition: number | undefined;
  /** Reads a binding that is text. */
  readonly readVariable: (name: string) => string | undefined;
  /** Opens connections to endpoints. */
  readonly connect: Connect;
  /** The object of a partition. */
  readonly at: (partition: number) => Peer;
}

/** Starts an object. Rejects with `Failure` when its rows are those of another installation. */
export async function openLife(options: LifeOptions): Promise<Life> {
  const { storage, config, clock, alarms, log } = options;
  const own = durableSqlite(storage);
  await migrate(own);
  const range = await rangeOf(own, options);
  await alarms.open();
  const isRemote = config["storage.database-url"] !== "";
  const client = isRemote ? await openRemoteRows(range, options) : own;
  const store = new AlarmedStore(client, {
    ...(isRemote ? SERVER_FOLD_LIMITS : DURABLE_STORE_LIMITS),
    retryMs: config["storage.retry-timeout"],
    clock,
    alarms,
    cleanupIntervalMs: config["worker.cleanup-interval"],
    foldRowsMax: config["storage.fold-rows"],
    foldBytesMax: config["storage.fold-bytes"],
  });
  const peers = new Peers({ range, at: options.at, log });
  const deployments = sqlDeploymentStore(client, { clock, retryMs: 0 });
  const sessionKeys = sqlSessionKeyStore(client, { clock, retryMs: 0 });
  const app = await createApp({
    platform: { clock, random, log, dial: dialOf(options) },
    config,
    store,
    partitions: range.partitions,
    here: [range.partition],
    remotePartition: (partition) => peers.partitionClient(partition),
    deployments: peers.deployments(deployments),
    kafka: sqlKafkaStore(client, { clock, retryMs: 0 }),
    audit: sqlAuditStore(client, { clock, retryMs: 0, random }),
    sessionKeys: peers.sessionKeys(sessionKeys),
    introspection: introspectionOf(store, range, options),
    version: VERSION,
    ui: () => built,
    isOneOrigin: true,
    logsWaits: false,
    readVariable: options.readVariable,
  });
  return { app, store, deployments, sessionKeys, answerPeer: endpointOf(app, range, options) };
}

function dialOf({ connect, clock, config }: LifeOptions): Dial {
  return workerdDial({
    connect,
    egress: egressOf(config),
    streamsMax: config["worker.invoker.streams-per-connection"],
    // The clock ends the object when what it calls throws.
    onBug: (cause) =>
      clock.soon(() => {
        throw cause;
      }),
  });
}

/** The rows of an object that stores them on a database server. Its range stays in its own storage. */
async function openRemoteRows(
  { partition, partitions }: PartitionRange,
  { config, clock }: LifeOptions,
): Promise<SqlClient> {
  const [typed, token] = [config["storage.database-url"], config["storage.auth-token"]];
  const isEach = typed.includes(PARTITION);
  const address = remoteAddress(typed.replaceAll(PARTITION, String(partition)), token);
  const client = await openRemote({ ...address, timeoutMs: config["storage.request-timeout"] });
  const retry = { clock, retryMs: config["storage.retry-timeout"] };
  await withRetries(client, () => migrate(client), retry);
  const wanted = { partitions, databases: isEach ? "each" : "one" } as const;
  checkPartitions(await ensureLayout(client, wanted, retry), partitions);
  if (isEach) await ensurePartition(client, partition, retry);
  return client;
}

/** Which partition this is, of how many. Both are stored at the first start. */
async function rangeOf(
  client: SqlClient,
  { config, partition: named }: LifeOptions,
): Promise<PartitionRange> {
  const wanted = namedPartitions(config);
  const layout = await ensureLayout(client, { partitions: wanted, databases: "each" });
  checkPartitions(layout, wanted);
  const partition = named ?? await readPartition(client) ?? 0;
  await ensurePartition(client, partition);
  return { partition, partitions: wanted };
}

/** The Worker forwards requests by the settings alone, so they must match the data. */
function checkPartitions({ partitions }: Layout, wanted: number): void {
  if (partitions === wanted) return;
  throw new Failure(
    "RT0002",
    `"default-num-partitions" is ${wanted}, but this data was made with ${partitions}`,
  );
}

function endpointOf(
  app: App,
  { partition: own }: PartitionRange,
  { log, config }: LifeOptions,
): (request: Request) => Promise<Response> {
  return partitionEndpoint({
    secret: INTERNAL_SECRET,
    partitionClient: (partition) => partition === own ? app.partitionClient(partition) : undefined,
    owner: () => undefined,
    refresh: () => {},
    reload: () => app.reload(),
    reader: fetchReader,
    bytesMax: config["worker.invoker.message-size-limit"] + ENVELOPE_BYTES,
    log,
  });
}

function introspectionOf(
  store: AlarmedStore,
  { partitions }: PartitionRange,
  { storage, clock, config, log }: LifeOptions,
): Introspection {
  if (partitions > 1 || config["storage.database-url"] !== "") return NO_QUERIES;
  return durableIntrospection(storage, {
    flush: () => store.flushAll(),
    clock,
    log,
    limits: {
      rowsMax: config["admin.query-engine.rows"],
      timeMs: config["admin.query-engine.timeout"],
      spoolBytesMax: config["admin.query-engine.result-size"],
    },
    waitingMax: QUERIES_WAITING_MAX,
  });
}

/** An object can read only its own rows, and a partial result would look complete. */
const NO_QUERIES: Introspection = {
  query: () => {
    const message = "queries are answered here for one partition that is a Durable Object's own; " +
      "with a database server, ask a server on Node or Deno";
    return Promise.reject(Failure.plain(501, message));
  },
  close: () => Promise.resolve(),
};
