import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeBatch } from "../../src/kafka/batch_codec.ts";
import type {
  Ingested,
  IngestRecord,
  KafkaCluster,
  KafkaPlan,
  PlannedSubscription,
  RecordBatch,
  SidecarReport,
  SubscriptionReport,
} from "../../src/model/kafka.ts";

export const TOKEN = "a-token-of-the-tests";

/** A record as it came, and where from. */
export interface Delivered extends IngestRecord {
  readonly subscription: string;
  readonly topic: string;
  readonly partition: number;
  readonly text: string;
}

/** What a real server says of a record: nothing, or why it is poison. */
type Judge = (record: Delivered) => string | undefined;

/** The three routes that a sidecar uses, with the rules of a server and nothing behind them. */
export class FakeServer {
  readonly delivered: Delivered[] = [];
  readonly reports: SidecarReport[] = [];
  /** Offsets of every batch that came, duplicates included, by subscription. */
  readonly batches: RecordBatch[] = [];
  judge: Judge = () => undefined;
  isFull: (subscription: string) => boolean = () => false;
  /** The largest body of a batch, in bytes. */
  bytesMax = Infinity;
  readonly #clusters = new Map<string, KafkaCluster>();
  readonly #subscriptions = new Map<string, PlannedSubscription>();
  readonly #next = new Map<string, number>();
  #version = 1;
  /** The version of the plan that a sidecar had when it asked last. */
  #known: string | null = null;
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const server = this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((cause) => response.writeHead(500).end(String(cause)));
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as { port: number }).port;
  }

  /** Ends like a process that is killed: connections break. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise((resolve) => server ? server.close(resolve) : resolve(0));
  }

  cluster(name: string, properties: Record<string, string>): void {
    this.#clusters.set(name, { name, properties, createdAt: 0 });
    this.#version++;
  }

  subscribe(id: string, topic: string, change: Partial<PlannedSubscription> = {}): void {
    const { options, ...rest } = change;
    this.#subscriptions.set(id, {
      id,
      source: `kafka://k/${topic}`,
      sink: "service://S/h",
      sinkType: "virtualObject",
      createdAt: this.#subscriptions.get(id)?.createdAt ?? Date.now(),
      ...rest,
      options: { "group.id": `${id}-${topic}`, "auto.offset.reset": "earliest", ...options },
    });
    this.#version++;
  }

  /** Its subscriptions as they were reported last, and what was delivered to each. */
  state(): unknown {
    return [...this.#subscriptions.keys()].map((id) => [this.report(id), this.texts(id)]);
  }

  unsubscribe(id: string): void {
    this.#subscriptions.delete(id);
    this.#version++;
  }

  /** Values of what was delivered, as texts. */
  texts(subscription: string): string[] {
    return this.delivered.filter((one) => one.subscription === subscription)
      .map(({ text }) => text);
  }

  /** The last that was reported of a subscription. */
  report(id: string): SubscriptionReport | undefined {
    return this.reports.at(-1)?.subscriptions.find((one) => one.id === id);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const reply = (status: number, json?: unknown) =>
      void response.writeHead(status).end(json === undefined ? undefined : JSON.stringify(json));
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return reply(401, { message: "no" });
    switch (pathname) {
      case "/internal/kafka/plan":
        return reply(200, await this.#plan(searchParams));
      case "/internal/kafka/records": {
        if (body.length > this.bytesMax) return reply(413, { message: "too large" });
        const batch = decodeBatch(body);
        if (!this.#subscriptions.has(batch.subscription)) return reply(404);
        return reply(200, this.#ingest(batch));
      }
      case "/internal/kafka/reports":
        this.reports.push(JSON.parse(body.toString()));
        return reply(204);
      default:
        return reply(404);
    }
  }

  /** Whether a sidecar has the plan as it is now. */
  get isKnown(): boolean {
    return this.#known === String(this.#version);
  }

  async #plan(query: URLSearchParams): Promise<KafkaPlan> {
    const server = this.#server;
    this.#known = query.get("known");
    while (query.get("known") === String(this.#version) && this.#server === server) await sleep(10);
    return {
      version: String(this.#version),
      clusters: [...this.#clusters.values()],
      subscriptions: [...this.#subscriptions.values()],
    };
  }

  #ingest(batch: RecordBatch): Ingested {
    this.batches.push(batch);
    const { subscription, group, topic, partition, records, next } = batch;
    const source = JSON.stringify([subscription, group, topic, partition]);
    for (const record of records) {
      if (record.offset < (this.#next.get(source) ?? 0)) continue;
      if (this.isFull(subscription)) return { next: record.offset, isFull: true };
      const text = new TextDecoder().decode(record.value);
      const delivered = { ...record, subscription, topic, partition, text };
      const message = this.judge(delivered);
      if (message !== undefined) return { next: record.offset, poison: { message } };
      this.delivered.push(delivered);
      this.#next.set(source, record.offset + 1);
    }
    this.#next.set(source, Math.max(next, this.#next.get(source) ?? 0));
    return { next: this.#next.get(source) ?? next };
  }
}
