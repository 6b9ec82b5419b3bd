import type { Config } from "../config.ts";
import { PROTOCOL_MAX, PROTOCOL_PREFERRED } from "../model/protocol.ts";
import type { IdTokenSettings } from "./credentials/id_tokens.ts";
import type { SecretSettings } from "./credentials/secret_text.ts";
import { DISCOVER_LIMITS } from "./discover.ts";
import { Egress } from "./egress/egress.ts";
import type { OwnPorts } from "./egress/own_ports.ts";
import type { KeySettings } from "./identity/identity.ts";
import type { FunctionSettings } from "./lambda/functions.ts";
import type { Credentials } from "./lambda/sign.ts";
import type { OutboundOptions } from "./options.ts";

/** Whether protocol version 7 is preferred: only in it handlers see scopes and limit keys. */
export function prefersProtocol7(config: Config): boolean {
  return config["experimental-enable-protocol-v7"] || config["experimental-enable-vqueues"];
}

/** The limits of attempts. */
export function outboundSettings(config: Config): OutboundOptions {
  return {
    clusterName: config["cluster-name"],
    concurrencyMax: config["worker.invoker.concurrent-invocations-limit"],
    priorityAgingMs: config["worker.invoker.priority-aging"],
    messageBytesMax: config["worker.invoker.message-size-limit"],
    unackedFramesMax: config["worker.invoker.unacknowledged-messages-limit"],
    burstFramesMax: config["worker.invoker.message-burst-limit"],
    unackedBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    unreadBytesMax: config["worker.invoker.unacknowledged-bytes-limit"],
    drainMs: config["worker.invoker.drain-timeout"],
    connectTimeoutMs: config["worker.invoker.connect-timeout"],
    firstMessageMs: config["worker.invoker.first-message-timeout"],
    protocolMax: prefersProtocol7(config) ? PROTOCOL_MAX : PROTOCOL_PREFERRED,
    futureDepthMax: config["worker.invoker.max-awaited-future-depth"],
  };
}

/** Where the server may connect for operators. `own`: its ports. Absent: it has none. */
export function egressOf(config: Config, own?: OwnPorts): Egress {
  const [allow, deny] = [config["outbound.allow"], config["outbound.deny"]];
  return new Egress({ allow, deny, ...(own && { own }) });
}

/** What the envelope adds to a response, beside a third of its bytes. */
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

/** One half of the pair is ignored: the environment may hold it for another program. */
function credentialsOf(config: Config): Credentials | undefined {
  const accessKeyId = config["worker.invoker.aws-access-key-id"];
  const secretAccessKey = config["worker.invoker.aws-secret-access-key"];
  if (accessKeyId === "" || secretAccessKey === "") return undefined;
  const sessionToken = config["worker.invoker.aws-session-token"] || undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}

/** Which variables headers may name, and how large an announcement may be. */
export function endpointSettings(config: Config) {
  return {
    headerVariables: config["outbound.header-variables"],
    partsMax: config["admin.deployment-parts-limit"],
  };
}

/** How endpoints are shown ID tokens. An empty setting counts as absent. */
export function idTokenSettings(config: Config): IdTokenSettings {
  const secret = (text: SecretName, file: SecretName): SecretSettings => ({
    text: config[text] || undefined,
    file: config[file] || undefined,
    names: { text, file },
  });
  return {
    google: secret("outbound.id-token.google-key", "outbound.id-token.google-key-file"),
    key: secret("outbound.id-token.private-key-pem", "outbound.id-token.private-key-pem-file"),
    issuer: config["outbound.id-token.issuer"] || undefined,
    subject: config["cluster-name"],
    lifetimeMs: config["outbound.id-token.lifetime"],
    connectTimeoutMs: config["worker.invoker.connect-timeout"],
    timeoutMs: DISCOVER_LIMITS.timeoutMs,
  };
}

type SecretName =
  | `outbound.id-token.google-key${"" | "-file"}`
  | `outbound.id-token.private-key-pem${"" | "-file"}`;

/** An empty setting counts as absent. */
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
