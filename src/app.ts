import { admin } from "./admin/router.ts";
import { Registry } from "./admin/registry.ts";
import type { Feature } from "./admin/version.ts";
import type { Config } from "./config.ts";
import type { RequestReader } from "./ingress/request_reader.ts";
import { ingress } from "./ingress/router.ts";
import type { SchemaDefaults } from "./model/schema.ts";
import { discover, DISCOVER_LIMITS } from "./outbound/discover.ts";
import { Attempts } from "./outbound/dispatch.ts";
import { type Identity, type KeySettings, openIdentity } from "./outbound/identity/identity.ts";
import type { OutboundOptions } from "./outbound/options.ts";
import { Host } from "./partition/host.ts";
import type { DeploymentStore, Platform, Store } from "./ports.ts";
import { PROTOCOL_MAX, PROTOCOL_PREFERRED } from "./wire/protocol.ts";

export interface AppOptions {
  readonly platform: Platform;
  readonly config: Config;
  readonly store: Store;
  readonly deployments: DeploymentStore;
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
  const { platform, config, deployments, version, reader } = options;
  const { clock, random, log, dial } = platform;
  const identity = await openIdentity(keySettings(config), { ...options, clock, log });
  const signer = identity?.signer;
  const outbound = outboundOptions(config);
  const discovery = { ...DISCOVER_LIMITS, ...outbound, dial, clock, signer };
  const registry = await Registry.open(deployments, schemaDefaults(config), {
    clock,
    random,
    discover: (request) => discover(request, discovery),
  });
  const schema = () => registry.schema();
  const host = createHost(options, { schema, outbound, signer });
  await host.open();
  const shared = { invocations: host.requests, random, log, now: () => clock.now() };
  return {
    ingress: ingress({
      ...shared,
      schema,
      bodyBytesMax: config["ingress.request-size-limit"],
      requestsMax: config["ingress.concurrent-api-requests-limit"],
      ...(reader ? { reader } : {}),
    }),
    admin: admin({
      ...shared,
      registry,
      version,
      ingressEndpoint: ingressEndpoint(config),
      features: featuresOf(config),
    }),
    close: () => {
      identity?.close();
      host.close();
      return dial.close();
    },
  };
}

function createHost(
  { platform, config, store }: AppOptions,
  { schema, outbound, signer }: {
    readonly schema: () => ReturnType<Registry["schema"]>;
    readonly outbound: OutboundOptions;
    readonly signer: Identity["signer"] | undefined;
  },
): Host {
  const { clock, random, log, dial } = platform;
  return new Host({
    partition: 0,
    store,
    clock,
    log,
    schema,
    attempts: (send) => new Attempts({ dial, clock, random, log, schema, send, signer }, outbound),
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

/** Experimental features that are switched on (http-api §3.3). */
function featuresOf(config: Config): Feature[] {
  return config[PROTOCOL_V7] ? ["protocol_v7"] : [];
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
