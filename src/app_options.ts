import type { AuditStore } from "./audit_port.ts";
import type { KafkaAdmin } from "./admin/kafka/kafka_admin.ts";
import type { UiFiles } from "./admin/ui_files.ts";
import type { CertificateOf } from "./auth/client_certificate.ts";
import type { SessionKeyStore } from "./auth/session_keys.ts";
import type { Config } from "./config.ts";
import type { Readiness, Unready } from "./model/readiness.ts";
import type { RequestReader } from "./ingress/request_reader.ts";
import type { KafkaStore } from "./kafka_port.ts";
import type { Fleet, LocalHosts, SharedRegistry } from "./placement/fleet.ts";
import type { DeploymentStore, PartitionClient, Platform, Store } from "./ports.ts";
import type { Introspection, RunningAttempt } from "./query_port.ts";

export interface AppOptions {
  readonly platform: Platform;
  readonly config: Config;
  readonly store: Store;
  /** How many partitions the data in the store was made for. 1 when absent. */
  readonly partitions?: number;
  /** The partitions that this process serves from the beginning. All of them when absent. */
  readonly here?: readonly number[];
  /** The client of a partition that another process or Durable Object serves. */
  readonly remotePartition?: (partition: number) => PartitionClient;
  /** The other threads of this process, which serve the other partitions. Absent: there are none. */
  readonly otherThreads?: OtherThreads;
  /** Makes the fleet, which opens and closes partitions here once it has joined. None is open before. */
  readonly fleet?: (within: FleetContext) => Fleet;
  readonly deployments: DeploymentStore;
  /** What processes share about Kafka sidecars. Absent: this one is alone, and its token is new. */
  readonly kafka?: KafkaStore;
  /** Where records of the admin API are stored. Absent: they are in the log only. */
  readonly audit?: AuditStore;
  /** Where the keys of sessions of the UI are kept. Absent: they end with the process. */
  readonly sessionKeys?: SessionKeyStore;
  /** Answers queries. Absent where the platform cannot. */
  readonly introspection?: Introspection;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  /** A cheaper way to read requests, where the platform has one. */
  readonly reader?: RequestReader;
  /** What clients of either interface have shown. Absent: they show no certificates. */
  readonly certificateOf?: CertificateOf;
  /**
   * Whether this process looks for invocations that wait for long, to log them. Default: it does. Where an
   * idle process is evicted, the checks would keep it awake.
   */
  readonly logsWaits?: boolean;
  /** Whether callers and operators are served at one address, whatever the settings say. */
  readonly isOneOrigin?: boolean;
  /** The port that callers reach, once it is listened on. Absent: the one of the settings. */
  readonly ingressPort?: () => number | undefined;
  /** The files of the web UI. Absent: there is none. */
  readonly ui?: () => UiFiles | Promise<UiFiles>;
  /** Reads a file of text, where the platform has files. Rejects when it cannot be read. */
  readonly readTextFile?: (path: string) => Promise<string>;
  /** Reads a variable of the environment, for headers of requests to endpoints. Absent: there are none. */
  readonly readVariable?: (name: string) => string | undefined;
}

/**
 * What a fleet needs of its process. `hosts` and `registry` are functions because both are made
 * after the fleet; it calls them when it joins.
 */
export interface FleetContext {
  readonly hosts: () => LocalHosts;
  readonly registry: () => SharedRegistry;
  readonly running: () => RunningAttempt[];
}

/** What a thread asks of the others of its process. */
export interface OtherThreads {
  /** Why partitions there are not served. */
  readonly unready: Readiness;
  /** The pages of metrics of all of them. */
  readonly metricsPages: () => Promise<readonly string[]>;
}

/** What every adapter serves: two Fetch handlers, and nothing of any runtime. */
export interface App {
  ingress(request: Request): Response | Promise<Response>;
  admin(request: Request): Response | Promise<Response>;
  /** The client of a partition that lives here. Throws `Failure` 503 when it does not. */
  partitionClient(partition: number): PartitionClient;
  /** Why partitions that are served here are not. */
  unready(): Promise<readonly Unready[]>;
  /** The page of metrics, of what is here. */
  metricsPage(): Promise<string>;
  /** The attempts that run here at this moment. */
  running(): readonly RunningAttempt[];
  /** Reads the deployments again, because another process may have changed them. */
  reload(): Promise<void>;
  /** The server's end of Kafka sidecars. `feed.end()` is called before the admin interface is closed. */
  readonly kafka: KafkaAdmin;
  /** Ends requests that would wait for long: before the listeners are closed. */
  endWaits(): void;
  /** Stops attempts and answers waiting requests with 503. The stores stay open. */
  close(): Promise<void>;
}
