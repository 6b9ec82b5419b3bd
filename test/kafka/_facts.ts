import process from "node:process";
import path from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { request } from "../protocol/_ask.ts";
import {
  hasReference,
  startTarget,
  type Target,
  type TargetKind,
  type TargetOptions,
} from "../protocol/_target.ts";
import { type Broker, type BrokerOptions, startBroker } from "./broker/broker.ts";
import { TOKEN } from "./_fake_server.ts";
import { eventually, SidecarProcess } from "./_sidecar.ts";
import { Topics } from "./_topics.ts";

/** What a handler has seen of a record. */
export interface Seen {
  readonly handler: string;
  readonly id: string;
  readonly key?: string;
  /** Base64, of the bytes of the input. */
  readonly value: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The `traceparent` of the attempt. */
  readonly trace?: string;
}

export interface FactsOptions {
  /** Settings of the server. */
  readonly settings?: TargetOptions;
  /** The tests of one file share the broker of the first of them. */
  readonly broker?: BrokerOptions;
}

export interface SubscribeOptions {
  readonly options?: Readonly<Record<string, string>>;
  readonly cluster?: string;
}

/** A broker, a server with handlers, and a sidecar where the server has need of one. */
export class Facts {
  readonly kind: TargetKind;
  broker!: Broker;
  topics!: Topics;
  target!: Target;
  endpoint!: Endpoint;
  sidecar: SidecarProcess | undefined;
  readonly #options: FactsOptions;
  #started: Promise<void> | undefined;
  #names = 0;

  constructor(kind: TargetKind, options: FactsOptions = {}) {
    this.kind = kind;
    this.#options = options;
  }

  /** The admin port, as operators have it. */
  get adminUrl(): string {
    return this.target.admin;
  }

  /** Does nothing if it has been started. */
  start(jars: string): Promise<void> {
    return this.#started ??= this.#start(jars);
  }

  async #start(jars: string): Promise<void> {
    this.broker = await (broker ??= startBroker(jars, this.#options.broker));
    this.topics = new Topics(this.broker.client());
    const own = this.kind === "perdure" ? { "kafka.token": TOKEN } : {};
    this.target = await startTarget({ ...this.#options.settings, ...own }, this.kind);
    this.endpoint = await startEndpoint("h2", path.join(import.meta.dirname, "services_kafka.mjs"));
    this.#startSidecar();
    await this.register();
    await this.admin("POST", "kafka-clusters", {
      name: "k",
      properties: { "bootstrap.servers": this.broker.address },
    });
  }

  #startSidecar(): void {
    if (this.kind === "perdure") this.sidecar = new SidecarProcess({ url: this.target.admin });
  }

  /** Ends all that consumes, in order, and resolves when it is gone. */
  async rest(): Promise<void> {
    await this.sidecar?.stop("SIGTERM");
    await this.target.stop("SIGTERM");
  }

  /** The reverse of `rest`. */
  async resume(): Promise<void> {
    await this.target.start();
    this.#startSidecar();
  }

  async register(): Promise<void> {
    await this.admin("POST", "deployments", { uri: this.endpoint.url, force: true });
  }

  /** Asks the admin port. Throws unless it is a success. */
  // deno-lint-ignore no-explicit-any
  async admin(method: string, route: string, body?: unknown): Promise<any> {
    const given = body === undefined ? {} : { body };
    const answer = await request(method, `${this.adminUrl}/${route}`, given);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} /${route} answers ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  /** Answers the id of the subscription. It begins at the start of the topic, and looks around often. */
  async subscribe(
    topic: string,
    handler: string,
    { options = {}, cluster = "k" }: SubscribeOptions = {},
  ): Promise<string> {
    const { id } = await this.admin("POST", "subscriptions", {
      source: `kafka://${cluster}/${topic}`,
      sink: `service://${handler}`,
      options: {
        "auto.offset.reset": "earliest",
        "topic.metadata.refresh.interval.ms": "500",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "1000",
        ...options,
      },
    });
    return id;
  }

  /** A topic with records, that no other test has. */
  async topic(
    messages: Parameters<Topics["send"]>[1][] = [],
    { partitions = 1, settings = {} }: {
      readonly partitions?: number;
      readonly settings?: Record<string, string>;
    } = {},
  ): Promise<string> {
    const topic = this.name();
    await this.topics.create(topic, partitions, settings);
    if (messages.length > 0) await this.topics.send(topic, ...messages);
    return topic;
  }

  name(): string {
    return `${this.kind}-${++this.#names}`;
  }

  /** What handlers have seen of the records of a topic. */
  seen(topic: string): readonly Seen[] {
    return this.all().filter(({ headers }) =>
      headers.some(([name, value]) => name === "kafka.topic" && value === topic)
    );
  }

  all(): readonly Seen[] {
    return this.endpoint.lines().map((line) => JSON.parse(line));
  }

  /** The records of a topic, once there are so many: the first attempt of each. */
  async sees(topic: string, count: number): Promise<readonly Seen[]> {
    const records = () => {
      const ids = new Set<string>();
      return this.seen(topic).filter(({ id }) => !ids.has(id) && ids.add(id));
    };
    await eventually(`${count} records of ${topic}`, () => records().length >= count)
      .catch((cause) => {
        throw new Error(`${cause.message}: ${records().length}\n${this.#logs()}`);
      });
    return records();
  }

  #logs(): string {
    return `${this.sidecar?.child.output() ?? ""}\n${this.target.logs().slice(-3000)}`;
  }

  /** Throws unless there is an answer. */
  async sql(query: string): Promise<readonly Record<string, unknown>[]> {
    const { status, body } = await request("POST", `${this.adminUrl}/query`, {
      body: { query },
      headers: { accept: "application/json" },
    });
    if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
    return (body as { rows: Record<string, unknown>[] }).rows;
  }

  async close(): Promise<void> {
    await this.sidecar?.stop("SIGKILL");
    await this.topics?.close();
    await this.target?.close();
    await this.endpoint?.close();
  }
}

const START_MS = 120_000;

/** The servers whose behavior is compared: ours, and the reference where it is here. */
export const KINDS: readonly TargetKind[] = hasReference() ? ["perdure", "reference"] : ["perdure"];

/** As `KINDS`, for facts that take long: the reference has them with `FACTS=all` only. */
export const LONG_KINDS = process.env["FACTS"] === "all" ? KINDS : KINDS.slice(0, 1);

const ofKind = new Map<TargetKind, Facts>();
let broker: Promise<Broker> | undefined;

/** For the tests of a file, whichever of them run. */
afterAll(async () => {
  await Promise.all([...ofKind.values()].map((facts) => facts.close()));
  await (await broker?.catch(() => undefined))?.close();
});

/** For the tests of a `describe`; those of one file share the broker, and the server of their kind. `jars`: undefined where they are skipped. */
export function facts(
  jars: string | undefined,
  kind: TargetKind,
  options: FactsOptions = {},
): Facts {
  const facts = ofKind.get(kind) ?? new Facts(kind, options);
  ofKind.set(kind, facts);
  if (jars === undefined) return facts;
  beforeAll(() => facts.start(jars), START_MS);
  afterEach(async () => {
    const { subscriptions } = await facts.admin("GET", "subscriptions");
    for (const { id } of subscriptions) await facts.admin("DELETE", `subscriptions/${id}`);
  });
  return facts;
}

/** The text of base64. */
export const textOf = ({ value }: Seen): string => Buffer.from(value, "base64").toString();

/** The value of a header that a handler has seen. */
export const headerOf = ({ headers }: Seen, name: string): string | undefined =>
  headers.find(([one]) => one === name)?.[1];
