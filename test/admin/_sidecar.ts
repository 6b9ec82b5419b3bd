import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { IngestRecord, RecordBatch, SubscriptionReport } from "../../src/model/kafka.ts";
import { subscribed } from "./_kafka.ts";
import { TOKEN } from "./_kafka_admin.ts";

/** What a sidecar shows of a server with the token of the tests. */
export const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };
export const PLAN = "/internal/kafka/plan";
export const RECORDS = "/internal/kafka/records";
export const LETTERS = "/internal/kafka/letters";
export const REPORTS = "/internal/kafka/reports";

/** All that is under way has been done, but for what waits for time. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A record with a text as its value. */
export function record(offset: number, more: Partial<IngestRecord> = {}): IngestRecord {
  return {
    offset,
    timestamp: 1_700_000_000_000,
    key: undefined,
    value: new TextEncoder().encode(`"${offset}"`),
    objectKey: undefined,
    headers: [],
    scope: undefined,
    limitKey: undefined,
    traceparent: undefined,
    ...more,
  };
}

/** A batch of the topic of `subscribed`. */
export function batchOf(id: string, offsets: readonly number[], more: Partial<RecordBatch> = {}) {
  return {
    subscription: id,
    group: id,
    topic: "topic",
    partition: 0,
    next: (offsets.at(-1) ?? -1) + 1,
    records: offsets.map((offset) => record(offset)),
    ...more,
  };
}

/** A subscription, and requests of a sidecar. */
export async function served(...options: Parameters<typeof subscribed>) {
  const world = await subscribed(...options);
  const token = await world.kafka.token();
  const authorized = { authorization: `Bearer ${token}` };
  return {
    ...world,
    id: world.subscription.id as string,
    plan: (query = "") => world.send("GET", `${PLAN}${query}`, { headers: authorized }),
    records: (body: Uint8Array<ArrayBuffer> | RecordBatch) =>
      world.send("POST", RECORDS, {
        headers: authorized,
        body: body instanceof Uint8Array ? body : encodeBatch(body),
      }),
    letters: (body: unknown) => world.post(LETTERS, body, authorized),
    report: (body: unknown) => world.post(REPORTS, body, authorized),
  };
}

/** Of a sidecar that has two partitions of the topic. */
export const RUNNING: SubscriptionReport = {
  id: "",
  state: "running",
  partitions: [
    { topic: "topic", partition: 1, position: 5, end: 5 },
    { topic: "topic", partition: 0, position: 3, end: 10 },
  ],
};
