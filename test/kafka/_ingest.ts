import { ingestBatch, type IngestDeps, type RequestBatch } from "../../src/kafka/ingest.ts";
import type { IngestRecord, RecordBatch } from "../../src/model/kafka.ts";
import type { Deployment } from "../../src/model/schema.ts";
import { Schema } from "../../src/model/schema.ts";
import { defaults, deployment } from "../support/schema.ts";

/** Bytes of a text. */
export const utf8 = (text: string) => new TextEncoder().encode(text);
export const SUBSCRIPTION = "sub_1abc";
const SOURCE = { subscription: SUBSCRIPTION, group: "g", topic: "orders", partition: 2 };

export function record(offset: number, more: Partial<IngestRecord> = {}): IngestRecord {
  return {
    offset,
    timestamp: 1_700_000_000_123,
    key: undefined,
    value: utf8(`${offset}`),
    objectKey: undefined,
    headers: [],
    scope: undefined,
    limitKey: undefined,
    traceparent: undefined,
    ...more,
  };
}

const FLOW = { flowControl: { scopes: true, scopedObjects: true } };

/** Hands over records of one partition of a topic. */
export async function ingest(
  sink: string,
  records: readonly IngestRecord[],
  {
    dialect = "svc",
    more = {},
    deps = {},
    flowControl = FLOW,
  }: {
    readonly dialect?: Deployment["dialect"];
    readonly more?: Partial<RecordBatch>;
    readonly deps?: Partial<IngestDeps>;
    readonly flowControl?: Partial<typeof FLOW>;
  } = {},
) {
  const taken: RequestBatch[] = [];
  const next = (records.at(-1)?.offset ?? 0) + 1;
  const batch: RecordBatch = { ...SOURCE, next, records, ...more };
  const result = await ingestBatch(
    {
      take: (one) => {
        if (one.records.length > 0) taken.push(one);
        return Promise.resolve({ next: one.next });
      },
      soon: (call) => void setImmediate(call),
      valueBytesMax: 100,
      isScopeRead: false,
      ...deps,
    },
    batch,
    {
      sink: `service://${sink}`,
      schema: new Schema([{ ...deployment, dialect }], { ...defaults, ...flowControl }),
    },
  );
  const requests = taken.flatMap(({ records }) => records.map(({ request }) => request));
  return { result, taken, requests };
}
