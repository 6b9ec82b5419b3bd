import { ingestBatch, type IngestDeps } from "../../kafka/ingest.ts";
import type { Ingested, RecordBatch, Subscription } from "../../model/kafka.ts";
import type { Schema } from "../../model/schema.ts";
import type { IngestCounts } from "../../observe/ingest_counts.ts";

export interface IngestionOptions extends IngestDeps {
  readonly schema: () => Schema;
  readonly counts: IngestCounts;
}

/** Bytes of a batch of several records, or of what a record has beside its value: keys, headers. */
const BATCH_BYTES = 16 * 1024 * 1024;

/** Takes batches of records, and counts them. */
export class Ingestion {
  /** The largest batch: several records, or one that is as large as may be. */
  readonly bytesMax: number;
  readonly #options: IngestionOptions;

  constructor(options: IngestionOptions) {
    this.#options = options;
    this.bytesMax = BATCH_BYTES + options.valueBytesMax;
  }

  /** As `ingestBatch`. */
  async take(batch: RecordBatch, subscription: Subscription): Promise<Ingested> {
    const { schema, counts, take, ...limits } = this.#options;
    const { id, sink } = subscription;
    let replays = 0;
    const counted: typeof take = async (requests) => {
      const part = await take(requests);
      replays += part.replays ?? 0;
      return part;
    };
    const deps = { ...limits, take: counted };
    const ingested = await ingestBatch(deps, batch, { sink, schema: schema() });
    const taken = batch.records.filter(({ offset }) => offset < ingested.next).length;
    const { topic, partition } = batch;
    counts.add({ subscription: id, topic, partition }, {
      taken,
      replays,
      poison: ingested.poison ? 1 : 0,
      full: ingested.isFull ? 1 : 0,
    });
    return ingested;
  }
}
