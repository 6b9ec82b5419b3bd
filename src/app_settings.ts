import type { Feature } from "./admin/version.ts";
import type { Config } from "./config.ts";
import type { SchemaDefaults } from "./model/schema.ts";
import type { ObservationOptions } from "./observe/observation.ts";
import { DISCOVER_LIMITS } from "./outbound/discover.ts";
import type { KeySettings } from "./outbound/identity/identity.ts";
import type { FunctionSettings } from "./outbound/lambda/functions.ts";
import type { Credentials } from "./outbound/lambda/sign.ts";
import type { OutboundOptions } from "./outbound/options.ts";
import type { Platform } from "./ports.ts";
import { PROTOCOL_MAX, PROTOCOL_PREFERRED } from "./model/protocol.ts";

/** What handlers get whose manifest says nothing, and the most it may say. */
export function schemaDefaults(config: Config): SchemaDefaults {
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

/** The limits of attempts. */
export function outboundOptions(config: Config): OutboundOptions {
  return {
    clusterName: config["cluster-name"],
    concurrencyMax: config["worker.invoker.concurrent-invocations-limit"],
    messageBytesMax: config["worker.invoker.message-size-limit"],
    unackedFramesMax: config["worker.invoker.unacknowledged-messages-limit"],
    unackedBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    unreadBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    drainMs: config["worker.invoker.drain-timeout"],
    connectTimeoutMs: config["worker.invoker.connect-timeout"],
    protocolMax: config[PROTOCOL_V7] ? PROTOCOL_MAX : PROTOCOL_PREFERRED,
    futureDepthMax: config["worker.invoker.max-awaited-future-depth"],
  };
}

const PROTOCOL_V7 = "experimental-enable-protocol-v7";

/** Who watches the server, and where spans go. */
export function observationOptions(
  { platform, version, config }: {
    readonly platform: Platform;
    readonly version: string;
    readonly config: Config;
  },
): ObservationOptions {
  return {
    platform,
    version,
    clusterName: config["cluster-name"],
    isDetailed: config["log-failure-details"],
    tracing: {
      endpoint: config["tracing-endpoint"],
      headers: config["tracing-headers"],
      samplePercent: config["tracing-sample-percent"],
      spansMax: config["tracing-queue-spans-max"],
    },
  };
}

/** Experimental features that are switched on (docs/spec/admin.md#version-and-health). */
export function featuresOf(config: Config): Feature[] {
  return config[PROTOCOL_V7] ? ["protocol_v7"] : [];
}

/** What the envelope adds to an answer, beside a third of its bytes. */
const ENVELOPE_BYTES = 64 * 1024;

/** The settings of function deployments. */
export function functionSettings(config: Config): FunctionSettings {
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
export function keySettings(config: Config): KeySettings {
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

/** Where callers reach this server. */
export function ingressEndpoint(config: Config): string {
  return `http://${config["ingress.bind-address"]}:${config["ingress.bind-port"]}/`;
}
