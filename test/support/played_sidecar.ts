import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { IngestRecord, RecordBatch } from "../../src/model/kafka.ts";
import type { Address } from "./client.ts";
import { SIDECAR_TOKEN } from "./server.ts";

/** Does to a server what a sidecar does. The tests with a broker are in `test/kafka`. */
export class PlayedSidecar {
  readonly #server: Pick<Address, "admin">;
  readonly subscription: string;

  constructor(server: Pick<Address, "admin">, subscription: string) {
    this.#server = server;
    this.subscription = subscription;
  }

  /** A request below `/internal/kafka/`, with the token. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...init.headers, authorization: `Bearer ${SIDECAR_TOKEN}` };
    return await fetch(`${this.#server.admin}/internal/kafka/${path}`, { ...init, headers });
  }

  /** Hands over records of partition 0, whose offsets follow each other. */
  async records(from: number, records: readonly Partial<IngestRecord>[]): Promise<unknown> {
    const batch: RecordBatch = {
      subscription: this.subscription,
      group: this.subscription,
      topic: "orders",
      partition: 0,
      next: from + records.length,
      records: records.map((one, at) => ({ ...RECORD, offset: from + at, ...one })),
    };
    const response = await this.ask("records", { method: "POST", body: encodeBatch(batch) });
    const text = await response.text();
    if (!response.ok) throw new Error(`A batch was answered with ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Reports the state of the subscription, and partitions. */
  async report(state: string, partitions: readonly object[] = []): Promise<void> {
    const subscriptions = [{ id: this.subscription, state, partitions }];
    const { status } = await this.ask("reports", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ member: "tester", subscriptions }),
    });
    if (status !== 204) throw new Error(`A report was answered with ${status}`);
  }
}

const RECORD: IngestRecord = {
  offset: 0,
  timestamp: 1_700_000_000_000,
  key: undefined,
  value: undefined,
  objectKey: undefined,
  headers: [],
  scope: undefined,
  limitKey: undefined,
  traceparent: undefined,
};
