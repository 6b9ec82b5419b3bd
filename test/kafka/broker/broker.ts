import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Kafka, logLevel } from "kafkajs";
import { Child, freePorts, until } from "../../support/child.ts";
import { missing } from "../../support/fetched.ts";
import { brokerJars } from "./jars.ts";
import { makeStores, PASSWORD, secureSettings } from "./security.ts";

const START_MS = 60_000;
const CLUSTER_ID = "cGVyZHVyZS10ZXN0LTAwMA";
/** C1 alone: a broker of tests lives for seconds. 512 MB is all that it may use. */
const JVM = ["-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

export interface BrokerOptions {
  /** Adds a listener with TLS and every SASL mechanism, and one that asks for a client certificate. */
  readonly isSecure?: boolean;
  /** Further lines of `server.properties`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Ports of the listeners: plain, of the controller, SASL over TLS, TLS with client certificates. */
interface Ports {
  readonly plain: number;
  readonly controller: number;
  readonly sasl: number;
  readonly mutual: number;
}

/** What it takes to run a broker. Undefined where the tests with one are to be skipped. */
export async function brokerTools(): Promise<string | undefined> {
  const java = await promisify(execFile)("java", ["-version"]).catch(() => undefined);
  return java === undefined
    ? missing("Tests against a Kafka broker", "there is no java (17 or later)")
    : await brokerJars();
}

/** Apache Kafka in one process, with a folder and ports that outlive its restarts. */
export class Broker {
  readonly folder: string;
  readonly #classpath: string;
  readonly #ports: Ports;
  readonly #options: BrokerOptions;
  #child: Child | undefined;

  constructor(jars: string, ports: Ports, options: BrokerOptions = {}) {
    this.folder = mkdtempSync(path.join(tmpdir(), "kafka-"));
    this.#classpath = path.join(jars, "*");
    this.#ports = ports;
    this.#options = options;
  }

  /** `host:port` of the listener without TLS. */
  get address(): string {
    return `127.0.0.1:${this.#ports.plain}`;
  }

  /** `host:port` of the listener with TLS and SASL. */
  get saslAddress(): string {
    return `localhost:${this.#ports.sasl}`;
  }

  /** `host:port` of the listener with TLS that asks for a client certificate. */
  get mutualAddress(): string {
    return `localhost:${this.#ports.mutual}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** A file that `isSecure` makes: `ca.pem`, `client.p12`. */
  file(name: string): string {
    return path.join(this.folder, name);
  }

  /** A client for tests, which says nothing in the log. */
  client(): Kafka {
    const retry = { initialRetryTime: 50, retries: 10 };
    return new Kafka({ brokers: [this.address], logLevel: logLevel.NOTHING, retry });
  }

  /** Starts it, and resolves when it answers. The first start makes its storage. */
  async start(): Promise<void> {
    if (!existsSync(this.file("data"))) this.#format();
    const command = ["java", ...JVM, "-cp", this.#classpath, "kafka.Kafka"] as const;
    const child = this.#child = new Child([...command, this.file("server.properties")]);
    await until("the broker to answer", async () => {
      if (!child.isAlive()) throw new Error(`The broker ended: ${child.output()}`);
      return await this.#answers();
    }, START_MS);
  }

  #format(): void {
    mkdirSync(this.folder, { recursive: true });
    if (this.#options.isSecure) makeStores(this.folder);
    const file = this.file("server.properties");
    const lines = Object.entries(this.#settings()).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(file, lines.join(""));
    const users = this.#options.isSecure
      ? ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((
        mechanism,
      ) => ["--add-scram", `${mechanism}=[name=user,password=${PASSWORD}]`])
      : [];
    const format = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", file, ...users];
    execFileSync("java", [...JVM, "-cp", this.#classpath, ...format], { stdio: "pipe" });
  }

  #settings(): Record<string, string> {
    const { plain, controller, sasl, mutual } = this.#ports;
    const clients = [`PLAIN://127.0.0.1:${plain}`];
    if (this.#options.isSecure) {
      clients.push(`SASL://localhost:${sasl}`, `MUTUAL://localhost:${mutual}`);
    }
    return {
      "process.roles": "broker,controller",
      "node.id": "1",
      "controller.quorum.voters": `1@127.0.0.1:${controller}`,
      "controller.listener.names": "CONTROLLER",
      "listeners": [...clients, `CONTROLLER://127.0.0.1:${controller}`].join(","),
      "advertised.listeners": clients.join(","),
      "inter.broker.listener.name": "PLAIN",
      "listener.security.protocol.map":
        "PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_SSL,MUTUAL:SSL",
      "log.dirs": this.file("data"),
      "auto.create.topics.enable": "false",
      // Tests write records of long ago, which a broker deletes half a minute after its start.
      "log.retention.ms": "-1",
      // A broker that was killed is not let in again before its session of before has ended.
      "broker.heartbeat.interval.ms": "500",
      "broker.session.timeout.ms": "3000",
      "group.initial.rebalance.delay.ms": "0",
      "group.min.session.timeout.ms": "500",
      "message.max.bytes": "20000000",
      "offsets.topic.num.partitions": "1",
      "offsets.topic.replication.factor": "1",
      "transaction.state.log.num.partitions": "1",
      "transaction.state.log.replication.factor": "1",
      "transaction.state.log.min.isr": "1",
      ...(this.#options.isSecure ? secureSettings(this.folder) : {}),
      ...this.#options.settings,
    };
  }

  async #answers(): Promise<boolean> {
    const retry = { retries: 0 };
    const kafka = new Kafka({ brokers: [this.address], logLevel: logLevel.NOTHING, retry });
    const admin = kafka.admin();
    try {
      await admin.connect();
      return (await admin.describeCluster()).brokers.length === 1;
    } catch {
      return false;
    } finally {
      await admin.disconnect();
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    await this.#child?.stop(signal);
  }

  /** Ends it and forgets what it holds. */
  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The CA of its certificate, as PEM. */
  ca(): string {
    return readFileSync(this.file("ca.pem"), "utf8");
  }
}

/** A broker on free ports with no topics, running. */
export async function startBroker(jars: string, options: BrokerOptions = {}): Promise<Broker> {
  const [plain = 0, controller = 0, sasl = 0, mutual = 0] = await freePorts(4);
  const broker = new Broker(jars, { plain, controller, sasl, mutual }, options);
  await broker.start();
  return broker;
}
