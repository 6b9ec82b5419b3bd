import { admin } from "./admin/router.ts";
import { Registry } from "./admin/registry.ts";
import type { Config } from "./config.ts";
import type { RequestReader } from "./ingress/request_reader.ts";
import { ingress } from "./ingress/router.ts";
import type { SchemaDefaults } from "./model/schema.ts";
import { discover, DISCOVER_LIMITS } from "./outbound/discover.ts";
import { Attempts } from "./outbound/dispatch.ts";
import type { OutboundOptions } from "./outbound/options.ts";
import { Host } from "./partition/host.ts";
import type { DeploymentStore, Platform, Store } from "./ports.ts";
import { PROTOCOL_PREFERRED } from "./wire/protocol.ts";

export interface AppOptions {
  readonly platform: Platform;
  readonly config: Config;
  readonly store: Store;
  readonly deployments: DeploymentStore;
  /** Our own version, as in `package.json`. */
  readonly version: string;
  /** A cheaper way to read requests, where the platform has one. */
  readonly reader?: RequestReader;
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
 * derived every effect from the rows. Rejects when the stores cannot be read.
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { platform, config, deployments, version, reader } = options;
  const { clock, random, log, dial } = platform;
  const outbound = outboundOptions(config);
  const registry = await Registry.open(deployments, schemaDefaults(config), {
    clock,
    random,
    discover: (request) => discover(request, { ...DISCOVER_LIMITS, ...outbound, dial, clock }),
  });
  const schema = () => registry.schema();
  const host = createHost(options, { schema, outbound });
  await host.open();
  return {
    ingress: ingress({
      invocations: host,
      schema,
      now: () => clock.now(),
      random,
      log,
      bodyBytesMax: config["ingress.request-size-limit"],
      requestsMax: config["ingress.concurrent-api-requests-limit"],
      ...(reader ? { reader } : {}),
    }),
    admin: admin({ registry, log, version, ingressEndpoint: ingressEndpoint(config) }),
    close: () => {
      host.close();
      return dial.close();
    },
  };
}

function createHost(
  { platform, config, store }: AppOptions,
  { schema, outbound }: {
    readonly schema: () => ReturnType<Registry["schema"]>;
    readonly outbound: OutboundOptions;
  },
): Host {
  const { clock, random, log, dial } = platform;
  return new Host({
    partition: 0,
    store,
    clock,
    log,
    schema,
    attempts: (send) => new Attempts({ dial, clock, random, log, schema, send }, outbound),
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
    protocolMax: PROTOCOL_PREFERRED,
  };
}

function ingressEndpoint(config: Config): string {
  return `http://${config["ingress.bind-address"]}:${config["ingress.bind-port"]}/`;
}
