import type { IngestRecord } from "../model/kafka.ts";
import type { KafkaRecord, Mapped } from "./mapping.ts";

/** The most records of a batch, and the most bytes of all that they consist of unless one has more. */
export const BATCH_RECORDS_MAX = 4_000;
const BATCH_BYTES_MAX = 4_194_304;

/** Records that go to the server together. */
export interface Chunk {
  readonly records: readonly IngestRecord[];
  /** How many of the given records it covers, those that are left out included. */
  readonly count: number;
  /** Why the record after those that are covered can go nowhere. Undefined: it was not looked at. */
  readonly poison: string | undefined;
}

export interface ChunkOptions {
  readonly map: (record: KafkaRecord) => Mapped;
  /** Records that are passed over. */
  readonly isPassed: (offset: number) => boolean;
}

/** Takes as many records from the front of `records`, from `from` on, as go together. */
export function chunkOf(
  records: readonly KafkaRecord[],
  from: number,
  { map, isPassed }: ChunkOptions,
): Chunk {
  const taken: IngestRecord[] = [];
  let bytes = 0;
  for (let at = from; at < records.length; at++) {
    const record = records[at]!;
    if (isPassed(record.offset)) continue;
    const mapped = map(record);
    if (mapped.kind === "skip") continue;
    if (mapped.kind === "poison") {
      return { records: taken, count: at - from, poison: mapped.message };
    }
    bytes += sizeOf(mapped.record);
    const isFull = taken.length === BATCH_RECORDS_MAX || bytes > BATCH_BYTES_MAX;
    if (isFull && taken.length > 0) return { records: taken, count: at - from, poison: undefined };
    taken.push(mapped.record);
  }
  return { records: taken, count: records.length - from, poison: undefined };
}

/** About so many bytes it takes in a batch. Texts may need more bytes than characters. */
function sizeOf({ key, value, headers, objectKey }: IngestRecord): number {
  let characters = objectKey?.length ?? 0;
  for (const [name, text] of headers) characters += name.length + text.length;
  return (key?.length ?? 0) + (value?.length ?? 0) + 3 * characters;
}
