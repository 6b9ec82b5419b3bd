import { admin } from "./admin/router.ts";
import { countPinned } from "./admin/pinned.ts";
import { Registry } from "./admin/registry.ts";
import type { Feature } from "./admin/version.ts";
import type { Config } from "./config.ts";
import type { RequestReader } from "./ingress/request_reader.ts";
import { ingress } from "./ingress/router.ts";
import type { SchemaDefaults } from "./model/schema.ts";
import { discover, DISCOVER_LIMITS } from "./outbound/discover.ts";
import { Attempts } from "./outbound/dispatch.ts";
import { type Identity, type KeySettings, openIdentity } from "./outbound/identity/identity.ts";
import { Functions, type FunctionSettings } from "./outbound/lambda/functions.ts";
import type { Credentials } from "./outbound/lambda/sign.ts";
import type { OutboundOptions } from "./outbound/options.ts";
import { Observation, type ObservationOptions } from "./observe/observation.ts";
import { toldDeployments } from "./observe/told_deployments.ts";
import { Host } from "./partition/host.ts";
import type { DeploymentStore, Introspection, Platform, Store } from "./ports.ts";
import { PROTOCOL_MAX, PROTOCOL_PREFERRED } from "./wire/protocol.ts";

export interface AppOptions {
  readonly platform: Platform;
  readonly config: Config;
  readonly store: Store;
  readonly deployments: DeploymentStore;
  /** Who answers queries, where the platform can. */
  readonly introspection?: Introspection;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  /** A cheaper way to read requests, where the platform has one. */
  readonly reader?: RequestReader;
  /** Reads a file of text, where the platform has files. Rejects when it cannot be read. */
  readonly readTextFile?: (path: string) => Promise<string>;
}

/** What every adapter serves: two Fetch handlers, and nothing of any runtime. */
export interface App {
  ingress(request: Request): Response | Promise<Response>;
  admin(request: Request): Response | Promise<Response>;
  /** Stops attempts and answers whoever still waits with 503. The stores stay open. */
  close(): Promise<void>;
}

/**
 * Wires everything, here and nowhere else. Resolves when the partition has its lease and has
 * derived every effect from the rows. Rejects when the stores cannot be read, and with `Failure`
 * RT0002 when the key that signs requests cannot.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { platform: { clock, random, log, dial }, config, deployments } = options;
  const observation = new Observation(observationOptions(options));
  const identity = await openIdentity(keySettings(config), { ...options, clock, log });
  const [signer, outbound] = [identity?.signer, outboundOptions(config)];
  const functions = new Functions(functionSettings(config), { dial, clock });
  const discovery = { ...DISCOVER_LIMITS, ...outbound, dial, clock, signer, functions };
  const registry = await Registry.open(toldDeployments(deployments, log), schemaDefaults(config), {
    clock,
    random,
    ...registering(options),
    discover: (request) => discover(request, discovery),
  });
  const schema = () => registry.schema();
  const live: Live = { attempts: undefined };
  const { watch, tracer } = observation;
  const host = createHost(options, { schema, outbound, signer, functions, watch, live });
  await host.open();
  const shared = { invocations: host.requests, random, log, now: () => clock.now() };
  return {
    ingress: ingress({
      ...shared,
      schema,
      tracer,
      ...ingressSettings(options),
    }),
    admin: admin({
      ...shared,
      registry,
      ...adminSettings(options),
      ...asking(options, live),
      metrics: () => observation.page(host, schema()),
    }),
    close: async () => {
      identity?.close();
      host.close();
      await Promise.all([observation.close(), dial.close()]);
    },
  };
}

/** Whoever answers queries can count what needs a deployment. */
function registering({ config, introspection, version }: AppOptions) {
  return {
    registrationsMax: config["admin.concurrent-registrations-limit"],
    ...(introspection && { pinned: countPinned(introspection, version) }),
  };
}

/** What ingress is told of the configuration and the platform. */
function ingressSettings({ config, reader }: AppOptions) {
  return {
    bodyBytesMax: config["ingress.request-size-limit"],
    requestsMax: config["ingress.concurrent-api-requests-limit"],
    ...(reader && { reader }),
  };
}

/** What the admin interface is told of the configuration. */
function adminSettings({ config, version }: AppOptions) {
  return {
    version,
    clusterName: config["cluster-name"],
    bodyBytesMax: config["admin.request-size-limit"],
    requestsMax: config["admin.concurrent-api-requests-limit"],
    ingressEndpoint: ingressEndpoint(config),
    features: featuresOf(config),
  };
}

/** The attempts of the partition's current life. */
interface Live {
  attempts: Attempts | undefined;
}

/** What queries need: who answers them, and what is in no row. */
function asking({ introspection }: AppOptions, live: Live) {
  return {
    ...(introspection && { introspection }),
    running: () => live.attempts?.running() ?? [],
  };
}

function createHost(
  { platform, config, store }: AppOptions,
  { schema, outbound, signer, functions, watch, live }: {
    readonly schema: () => ReturnType<Registry["schema"]>;
    readonly outbound: OutboundOptions;
    readonly signer: Identity["signer"] | undefined;
    readonly functions: Functions;
    readonly watch: Observation["watch"];
    readonly live: Live;
  },
): Host {
  const { clock, random, log, dial } = platform;
  return new Host({
    partition: 0,
    store,
    clock,
    log,
    schema,
    watch,
    attempts: (send) => {
      const world = { dial, clock, random, log, schema, send, signer, functions, watch };
      return live.attempts = new Attempts(world, outbound);
    },
    turnEventsMax: config["partition.turn-events-max"],
    mailboxEventsMax: config["partition.mailbox-events-max"],
    residentBytesMax: config["partition.resident-bytes-max"],
    timersMax: config["partition.timers-max"],
    cleanupIntervalMs: config["worker.cleanup-interval"],
  });
}

function schemaDefaults(config: Config): SchemaDefaults {
  return {
    inactivityTimeoutMs: config["worker.invoker.inactivity-timeout"],
    abortTimeoutMs: config["worker.invoker.abort-timeout"],
    journalRetentionMs: config["default-journal-retention"],
    idempotencyRetentionMs: config["default-idempotency-retention"],
    workflowRetentionMs: config["default-workflow-completion-retention"],
    eagerStateBytesMax: config["worker.invoker.eager-state-size-limit"],
    retry: {
      initialIntervalMs: config["default-retry-policy.initial-interval"],
      maxIntervalMs: config["default-retry-policy.max-interval"],
      factor: config["default-retry-policy.exponentiation-factor"],
      maxAttempts: config["default-retry-policy.max-attempts"],
      onMaxAttempts: config["default-retry-policy.on-max-attempts"],
    },
    limits: {
      journalRetentionMsMax: config["max-journal-retention"],
      idempotencyRetentionMsMax: config["max-idempotency-retention"],
      workflowRetentionMsMax: config["max-workflow-completion-retention"],
      attemptsMax: config["max-retry-policy-max-attempts"],
    },
  };
}

function outboundOptions(config: Config): OutboundOptions {
  return {
    clusterName: config["cluster-name"],
    concurrencyMax: config["worker.invoker.concurrent-invocations-limit"],
    messageBytesMax: config["worker.invoker.message-size-limit"],
    unackedBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    unreadBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    drainMs: config["worker.invoker.drain-timeout"],
    connectTimeoutMs: config["worker.invoker.connect-timeout"],
    protocolMax: config[PROTOCOL_V7] ? PROTOCOL_MAX : PROTOCOL_PREFERRED,
    futureDepthMax: config["worker.invoker.max-awaited-future-depth"],
  };
}

const PROTOCOL_V7 = "experimental-enable-protocol-v7";

function observationOptions({ platform, version, config }: AppOptions): ObservationOptions {
  return {
    platform,
    version,
    clusterName: config["cluster-name"],
    tracing: {
      endpoint: config["tracing-endpoint"],
      headers: config["tracing-headers"],
      samplePercent: config["tracing-sample-percent"],
      spansMax: config["tracing-queue-spans-max"],
    },
  };
}

/** Experimental features that are switched on (http-api §3.3). */
function featuresOf(config: Config): Feature[] {
  return config[PROTOCOL_V7] ? ["protocol_v7"] : [];
}

/** What the envelope adds to an answer, beside a third of its bytes. */
const ENVELOPE_BYTES = 64 * 1024;

/** The settings of function deployments. */
function functionSettings(config: Config): FunctionSettings {
  return {
    credentials: credentialsOf(config),
    externalId: config["worker.invoker.aws-assume-role-external-id"] || undefined,
    functionServiceUrl: config["worker.invoker.aws-lambda-endpoint-url"] || undefined,
    roleServiceUrl: config["worker.invoker.aws-sts-endpoint-url"] || undefined,
    connectTimeoutMs: config["worker.invoker.connect-timeout"],
    timeoutMs: DISCOVER_LIMITS.timeoutMs,
    answerBytesMax: Math.ceil(config["worker.invoker.message-size-limit"] * 4 / 3) + ENVELOPE_BYTES,
  };
}

/** Half a pair is none: what is in an environment may be there for somebody else. */
function credentialsOf(config: Config): Credentials | undefined {
  const accessKeyId = config["worker.invoker.aws-access-key-id"];
  const secretAccessKey = config["worker.invoker.aws-secret-access-key"];
  if (accessKeyId === "" || secretAccessKey === "") return undefined;
  const sessionToken = config["worker.invoker.aws-session-token"] || undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** An empty setting is one that nobody set. */
function keySettings(config: Config): KeySettings {
  const names = {
    pem: "worker.invoker.request-identity-private-key-pem",
    pemFile: "worker.invoker.request-identity-private-key-pem-file",
  } as const;
  return {
    pem: config[names.pem] || undefined,
    pemFile: config[names.pemFile] || undefined,
    expirationMs: config["worker.invoker.request-identity-expiration"],
    names,
  };
}

function ingressEndpoint(config: Config): string {
  return `http://${config["ingress.bind-address"]}:${config["ingress.bind-port"]}/`;
}
