import { auditOptions } from "./config/audit_options.ts";
import { authOptions } from "./config/auth_options.ts";
import { adminConnectionOptions, ingressConnectionOptions } from "./config/connection_options.ts";
import * as describing from "./config/describe.ts";
import { ACCEPT_LOSS, CONFIG_FILE, type Flags, readFlags } from "./config/flags.ts";
import {
  AUTO,
  byteSize,
  choice,
  count,
  countOrAuto,
  countOrUnlimited,
  duration,
  flag,
  type Kind,
  optionalText,
  text,
} from "./config/kinds.ts";
import { encryptionOptions } from "./config/encryption_options.ts";
import { experimentalOptions } from "./config/experimental_options.ts";
import { fleetOptions } from "./config/fleet_options.ts";
import { functionOptions } from "./config/function_options.ts";
import { handlerOptions } from "./config/handler_options.ts";
import { ingressOptions } from "./config/ingress_options.ts";
import { kafkaOptions } from "./config/kafka_options.ts";
import { option } from "./config/option.ts";
import { outboundOptions } from "./config/outbound_options.ts";
import { partitionOptions } from "./config/partition_options.ts";
import { queryOptions } from "./config/query_options.ts";
import * as reading from "./config/read.ts";
import { tlsOptions } from "./config/tls_options.ts";
import { watching } from "./config/watching.ts";
import { PARTITIONS_MAX } from "./model/ring.ts";
import { envNames } from "./names.ts";

const port = count(0, 65_535);
/** Goes into a header of every request to an endpoint. */
const headerText = text("a text of visible ASCII characters", /^[\x21-\x7e]+$/);
/** May hold a token, so it is checked in full where the token is taken out. */
const DATABASE_URL = /^$|^(libsql|https?):\/\/\S+$/i;
const address = text("an IP address or host name to listen on");

/**
 * Every setting and every limit (law 5), with the reference's names and defaults where it has them
 * (docs/spec/runtimes.md#settings). The type, the environment names, file keys, flags, checks and
 * docs come from here. Durations read as milliseconds, sizes as bytes, `unlimited` as `Infinity`.
 */
export const options = {
  "base-dir": option(text("a path"), "svc-data", {
    doc: "Folder of the database. It is created when it is missing.",
    env: ["DATA_DIR"],
  }),
  "cluster-name": option(headerText, "localcluster", {
    doc: "The name of the cluster that is sent to endpoints in a header.",
  }),
  "default-num-partitions": option(countOrAuto(1, PARTITIONS_MAX), AUTO, {
    doc:
      "The number of partitions of new data. Existing data keeps its number. `auto`: one for each " +
      "of the `threads` of a data folder, 16 at most; one on servers and Workers.",
  }),
  "threads": option(countOrAuto(1, PARTITIONS_MAX), AUTO, {
    doc:
      "Threads that share the partitions of a data folder with a database each (`storage.databases`). " +
      "`auto`: one for each two cores and each GiB of memory. At most one for each database.",
  }),
  ...handlerOptions,
  ...experimentalOptions,
  "strict": option(flag(), "false", {
    doc: "Whether unknown query parameters and JSON fields are refused (400), not warned about.",
  }),
  "shutdown-timeout": option(duration(), "1m", {
    doc: "How long an orderly stop may take. Then the process ends in any case.",
  }),
  ...watching,

  ...ingressOptions,
  ...ingressConnectionOptions,

  "admin.bind-address": option(address, "127.0.0.1", {
    doc: "The address of the admin API.",
  }),
  "admin.bind-port": option(port, "9070", {
    doc: "The port of the admin API. 0: any free port.",
    env: ["ADMIN_PORT"],
  }),
  "admin.request-size-limit": option(byteSize(), "2MiB", {
    doc: "The largest body of an admin request. A larger one is answered with 413.",
  }),
  "admin.concurrent-api-requests-limit": option(countOrUnlimited(1), "unlimited", {
    doc: "Admin requests in progress at once. Further ones are answered with 429.",
  }),
  "admin.concurrent-registrations-limit": option(count(1), "100", {
    doc: "Deployments being registered or updated at once. Further ones are answered with 503.",
  }),
  "admin.deployment-parts-limit": option(count(1), "20000", {
    doc: "How many services and handlers a deployment may have. More are refused (META0013).",
  }),
  "admin.rules-limit": option(count(1), "10000", {
    doc: "How many rules the rule book may have. A batch that makes more is refused (422).",
  }),
  "admin.paused-queues-limit": option(count(1), "10000", {
    doc: "Virtual queues that may be paused at once. Pausing one more is refused (409).",
  }),

  ...adminConnectionOptions,

  ...queryOptions,

  ...authOptions,
  ...tlsOptions,
  ...auditOptions,

  "worker.cleanup-interval": option(duration(1), "1h", {
    doc: "How often expired results and journals are deleted. They stop being served when due.",
  }),
  "worker.invoker.inactivity-timeout": option(duration(), "1m", {
    doc: "How long an attempt may be inactive before it is asked to suspend.",
  }),
  "worker.invoker.abort-timeout": option(duration(), "10m", {
    doc: "How long it may then stay inactive before it is aborted (RT0001).",
  }),
  "worker.invoker.drain-timeout": option(duration(), "5s", {
    doc:
      "How long an endpoint may take to end its response before it is reset. Retries wait for it.",
  }),
  "worker.invoker.connect-timeout": option(duration(1), "10s", {
    doc: "How long connecting to an endpoint may take. Then the attempt fails (RT0010).",
  }),
  "worker.invoker.first-message-timeout": option(duration(1), "10s", {
    doc: "How long a deployment may send no first message before that is logged.",
  }),
  "worker.invoker.idle-connection-timeout": option(duration(1), "5m", {
    doc: "How long an unused connection to an endpoint is kept open.",
  }),
  "worker.invoker.streams-per-connection": option(count(1), "100", {
    doc: "Attempts that share one HTTP/2 connection. Further ones open another.",
  }),
  "worker.invoker.concurrent-invocations-limit": option(countOrUnlimited(1), "1000", {
    doc:
      "Attempts in flight at once, of each partition. Further ones wait until others end or suspend.",
  }),
  "worker.invoker.priority-aging": option(duration(1), "10s", {
    doc:
      "How long an invocation waits for each level that its priority is lower, before it goes first.",
  }),
  "worker.invoker.message-size-limit": option(byteSize(), "32MiB", {
    doc: "The largest message of an endpoint. A larger one fails the attempt (RT0003).",
  }),
  "worker.invoker.eager-state-size-limit": option(byteSize(0), "32MiB", {
    doc:
      "State sent at the start of an attempt. Further keys are sent when the handler reads them.",
  }),
  "worker.invoker.journal-entries-limit": option(countOrUnlimited(1), "100000", {
    doc: "Entries of one journal. A command beyond, other than the output, pauses it (RT0032).",
  }),
  "worker.invoker.unacknowledged-messages-limit": option(count(1), "256", {
    doc: "Messages of one attempt that are not durable yet. Beyond it, its stream is not read.",
  }),
  "worker.invoker.message-burst-limit": option(countOrUnlimited(1), "1000", {
    doc:
      "Messages of one attempt with that limit. Those after them have a sixteenth of it while other attempts run. Raise it where handlers send more and the database is a server.",
  }),
  "worker.invoker.unacknowledged-bytes-limit": option(byteSize(), "1MiB", {
    doc: "The same in bytes, and what an attempt may leave unread before it is asked to suspend.",
  }),
  "worker.invoker.max-awaited-future-depth": option(count(1, 1000), "1000", {
    doc: "How deep awaited futures may be nested. Deeper ones pause the invocation (RT0025).",
  }),
  "worker.invoker.request-identity-private-key-pem-file": option(
    optionalText("the path of a file"),
    "",
    {
      doc:
        "Ed25519 key (PKCS#8, PEM) that signs requests to endpoints. Read again when it changes.",
      env: envNames("request-identity-private-key-pem-file"),
    },
  ),
  "worker.invoker.request-identity-private-key-pem": option(optionalText("a key as PEM"), "", {
    doc: "The same key itself, for the environment: line breaks may be written `\\n`.",
    secret: true,
    env: envNames("request-identity-private-key-pem"),
  }),
  "worker.invoker.request-identity-expiration": option(duration(1000), "1m", {
    doc: "How far an endpoint's clock may differ before it refuses the server's signatures.",
  }),

  ...functionOptions,
  ...outboundOptions,
  ...kafkaOptions,
  ...fleetOptions,
  ...partitionOptions,

  "storage.database-url": option(
    optionalText("the address of a libSQL server: libsql://, https:// or http://", DATABASE_URL),
    "",
    {
      doc:
        "A database on a server, instead of one in `base-dir`. No folder is used or locked then.",
      secret: true,
      env: ["DATABASE_URL"],
    },
  ),
  "storage.databases": option(choice(AUTO, "one", "each"), AUTO, {
    doc:
      "Whether the partitions of new data share a database file, or each has its own. `auto`: each " +
      "has its own where their number is `auto`, too.",
  }),
  "storage.auth-token": option(optionalText("a token of visible ASCII", /^[\x21-\x7e]*$/), "", {
    doc: "The token sent to the database server. It may also be in its URL, as `?authToken=`.",
    secret: true,
    env: ["DATABASE_AUTH_TOKEN"],
  }),
  ...encryptionOptions,
  "storage.request-timeout": option(duration(1), "10s", {
    doc: "How long a database server may take to answer, plus 1 s for each MB it is sent.",
  }),
  "storage.retry-timeout": option(duration(), "30s", {
    doc: "How long requests to an unreachable database server are retried. Then callers get a 503.",
  }),
  "storage.synchronous": option(choice("full", "normal"), "full", {
    doc: "`full`: acknowledged data survives a power loss. `normal`: only a crash of the process.",
  }),
  "storage.fold-rows": option(count(1), "8192", {
    doc: "Rows the log may hold before they are folded into the tables.",
  }),
  "storage.fold-bytes": option(byteSize(), "8MiB", {
    doc: "Bytes the log may hold before they are folded into the tables.",
  }),
} as const;

type Value<O> = O extends { readonly kind: Kind<infer T> } ? T : never;

/** The settings in force, by path: `config["worker.invoker.abort-timeout"]` is milliseconds. */
export type Config = { readonly [K in keyof typeof options]: Value<typeof options[K]> };

/** The sources of a process's settings. */
export interface ConfigSources {
  /** Text of the config file named by `readCommand`, if there is one. */
  readonly file?: string | undefined;
  readonly env?: reading.Environment;
  /** Command line arguments, without the program's name. */
  readonly args?: readonly string[];
}

/**
 * Reads every setting: defaults, then file, environment and flags, the later winning
 * (docs/spec/runtimes.md#sources-of-settings). Throws `Failure` RT0002 that names what cannot be
 * read, where, and what is allowed.
 */
export function readConfig({ file, env = {}, args = [] }: ConfigSources): Config {
  const sources = [readFlags(options, args).settings, reading.readEnvironment(options, env)];
  if (file !== undefined) sources.push(reading.readFile(options, file));
  return reading.resolveSettings(options, sources) as Config;
}

/** What the command line asks the process to do, and the config file to read first. */
export type Command = Pick<Flags, "action" | "acceptLoss" | "configFile">;

/** Reads the part of a command line that is not a setting. Throws `Failure` RT0002. */
export function readCommand({ env = {}, args = [] }: Omit<ConfigSources, "file">): Command {
  const { action, acceptLoss, configFile = configFileOf(env) } = readFlags(options, args);
  return { action, acceptLoss, ...(configFile === undefined ? {} : { configFile }) };
}

/**
 * Warnings: one sentence for each variable `SVC_…` that sets nothing, and for each flag that
 * npm kept. `others`: paths of settings that the platform reads itself.
 */
export function warningsOf(env: reading.Environment, others: readonly string[] = []): string[] {
  const flags = [CONFIG_FILE.long.slice(2), ACCEPT_LOSS.flag.slice(2), ...Object.keys(options)];
  return [
    ...reading.unknownVariables(options, env, [CONFIG_FILE.env, ...others]),
    ...reading.flagsOfNpm(env, flags),
  ];
}

function configFileOf(env: reading.Environment): string | undefined {
  return envNames(CONFIG_FILE.env).map((name) => env[name]).find((value) => value !== undefined);
}

/** The table of settings in docs/settings.md. A test keeps the two the same. */
export function describeConfig(): string {
  return describing.describe(options);
}

/** The text of `--help`. */
export function helpText(): string {
  return describing.help(options);
}

/** What `--dump-config` prints: a config file that says what `config` says, without secrets. */
export function dumpConfig(config: Config): string {
  return describing.dump(options, config);
}
