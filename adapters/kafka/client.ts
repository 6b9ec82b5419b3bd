import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import kafkajs, { type Kafka, type KafkaConfig, type SASLOptions } from "kafkajs";
import { isTrue } from "../../src/kafka/option_kinds.ts";
import { brokersOf, type Options } from "../../src/kafka/options.ts";
import { OWN } from "../../src/names.ts";
import { type TokenOptions, tokenProvider } from "./oauth.ts";
import { Guard } from "../dial/guard.ts";
import { Sockets } from "./sockets.ts";

/** A client of one cluster, and its sockets. */
export interface Client {
  readonly kafka: Kafka;
  readonly sockets: Sockets;
}

const SOCKET_IDLE_MS = 60_000;
const CONNECT_MS = 10_000;
/**
 * How long a fetch may wait for records. With librdkafka's 500 ms some hundred idle subscriptions take a
 * core; records come at once in either case.
 */
export const FETCH_WAIT_MS = 20_000;
/** Few: what does not help soon is tried again from the beginning, and shown as an error meanwhile. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 };

/**
 * A client by options in force. Throws an error with a reason that may be shown where they contradict
 * each other or name files that cannot be read.
 */
export async function clientOf(options: Options, allowed: TokenOptions): Promise<Client> {
  const brokers = brokersOf(options);
  if (brokers.length === 0) throw new Error("bootstrap.servers names no broker");
  const protocol = (options["security.protocol"] ?? "plaintext").toLowerCase();
  const silentMs = numberOf(options, "socket.timeout.ms", SOCKET_IDLE_MS);
  const idleMs = silentMs + numberOf(options, "fetch.wait.max.ms", FETCH_WAIT_MS);
  const sockets = new Sockets(idleMs, new Guard(allowed.egress));
  const config: KafkaConfig = {
    brokers: [...brokers],
    clientId: options["client.id"] ?? OWN,
    connectionTimeout: numberOf(options, "socket.connection.setup.timeout.ms", CONNECT_MS),
    // It looks at every connection ten times a second. The sockets give up by themselves.
    enforceRequestTimeout: false,
    retry: RETRY,
    socketFactory: sockets.factory,
    // What it has to say comes as errors, of which the state of the subscription shows the last.
    logLevel: kafkajs.logLevel.NOTHING,
  };
  if (protocol.endsWith("ssl")) config.ssl = await tlsOf(options);
  if (protocol.startsWith("sasl")) config.sasl = saslOf(options, allowed);
  return { kafka: new kafkajs.Kafka(config), sockets };
}

/** The value of an option that is a number. */
export function numberOf(options: Options, name: string, otherwise: number): number {
  const value = options[name];
  return value === undefined ? otherwise : Number(value);
}

/** Text of a `.pem` option, or of the file that the `.location` beside it names. */
async function pemOf(options: Options, name: string): Promise<string | Buffer | undefined> {
  const [text, file] = [options[`${name}.pem`], options[`${name}.location`]];
  return text ? text.replaceAll("\\n", "\n") : file ? await read(file, name) : undefined;
}

async function read(file: string, name: string): Promise<Buffer> {
  return await readFile(file).catch((cause) => {
    // The path itself may be a secret by its name (`ssl.key.location`).
    throw new Error(`${name}.location cannot be read: ${(cause as NodeJS.ErrnoException).code}`);
  });
}

async function tlsOf(options: Options): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all(
    ["ssl.ca", "ssl.certificate", "ssl.key"].map((name) => pemOf(options, name)),
  );
  const store = options["ssl.keystore.location"];
  const pfx = store ? await read(store, "ssl.keystore") : undefined;
  const passphrase = options[pfx ? "ssl.keystore.password" : "ssl.key.password"];
  const ciphers = options["ssl.cipher.suites"];
  const given = { ca, cert, key, pfx, passphrase, ciphers };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const isVerified = isTrue(options["enable.ssl.certificate.verification"] ?? "true");
  const isNamed = options["ssl.endpoint.identification.algorithm"]?.toLowerCase() !== "none";
  return {
    ...set,
    rejectUnauthorized: isVerified,
    ...(isNamed ? {} : { checkServerIdentity: () => undefined }),
  };
}

function saslOf(options: Options, allowed: TokenOptions): SASLOptions {
  const mechanism = options["sasl.mechanism"]?.toLowerCase();
  const [username, password] = [options["sasl.username"] ?? "", options["sasl.password"] ?? ""];
  switch (mechanism) {
    case "plain":
    case "scram-sha-256":
    case "scram-sha-512":
      return { mechanism, username, password } as SASLOptions;
    case "oauthbearer":
      return { mechanism, oauthBearerProvider: tokenProvider(options, allowed) };
    default:
      throw new Error("security.protocol asks for SASL, and sasl.mechanism is missing");
  }
}
