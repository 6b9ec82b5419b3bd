import { concatBytes } from "../bytes.ts";
import { Failure } from "../errors.ts";
import type { IngestRecord, RecordBatch } from "../model/kafka.ts";

/** The head of a batch: its records by columns. Texts that no record has are left out. */
interface Head extends Omit<RecordBatch, "records"> {
  readonly offsets: readonly number[];
  readonly timestamps: readonly number[];
  /** Sizes in bytes. -1: there is none. */
  readonly keys: readonly number[];
  readonly values: readonly number[];
  readonly texts: readonly (RecordTexts | 0)[];
}

type RecordTexts = Partial<Omit<IngestRecord, "offset" | "timestamp" | "key" | "value">>;

const HEAD_BYTES = 4;
const NONE = -1;
const NO_HEADERS: IngestRecord["headers"] = [];

/**
 * Encodes a batch: the size of its head (u32, big endian), the head as JSON, then key and value of each
 * record, in order.
 */
export function encodeBatch({ records, ...source }: RecordBatch): Uint8Array<ArrayBuffer> {
  const head: Head = {
    ...source,
    offsets: records.map(({ offset }) => offset),
    timestamps: records.map(({ timestamp }) => timestamp),
    keys: records.map(({ key }) => key?.length ?? NONE),
    values: records.map(({ value }) => value?.length ?? NONE),
    texts: records.map(textsOf),
  };
  const json = new TextEncoder().encode(JSON.stringify(head));
  const size = new Uint8Array(HEAD_BYTES);
  new DataView(size.buffer).setUint32(0, json.length);
  const bodies = records.flatMap(({ key, value }) =>
    [key, value].filter((one) => one !== undefined)
  );
  return concatBytes([size, json, ...bodies]);
}

function textsOf(
  { objectKey, headers, scope, limitKey, traceparent }: IngestRecord,
): RecordTexts | 0 {
  const isPlain = objectKey === undefined && headers.length === 0 && scope === undefined &&
    limitKey === undefined && traceparent === undefined;
  return isPlain ? 0 : { objectKey, headers, scope, limitKey, traceparent };
}

/**
 * The reverse of `encodeBatch`. Keys and values are views of `packed`. Throws `Failure` 400 for bytes
 * that are no batch; what the fields of a batch say is not checked.
 */
export function decodeBatch(packed: Uint8Array): RecordBatch {
  try {
    return decode(packed);
  } catch (cause) {
    throw Failure.plain(400, "the body is no batch of records", { cause });
  }
}

function decode(packed: Uint8Array): RecordBatch {
  const from = HEAD_BYTES + new DataView(packed.buffer, packed.byteOffset).getUint32(0);
  if (from > packed.length) throw new RangeError("the head is cut off");
  const head = JSON.parse(decoder.decode(packed.subarray(HEAD_BYTES, from))) as Head;
  const { offsets, timestamps, keys, values, texts, ...source } = head;
  let at = from;
  const take = (size: number | undefined): Uint8Array | undefined => {
    if (size === NONE) return undefined;
    if (size === undefined || !(size >= 0)) throw new RangeError("a size is missing");
    const bytes = packed.subarray(at, at += size);
    if (at > packed.length) throw new RangeError("bytes are missing");
    return bytes;
  };
  const records = offsets.map((offset, index): IngestRecord => {
    const { objectKey, headers = NO_HEADERS, scope, limitKey, traceparent } = texts[index] || {};
    return {
      offset,
      timestamp: timestamps[index] ?? 0,
      key: take(keys[index]),
      value: take(values[index]),
      objectKey,
      headers,
      scope,
      limitKey,
      traceparent,
    };
  });
  if (at !== packed.length) throw new RangeError("there are more bytes than are named");
  return { ...source, records };
}

const decoder = new TextDecoder("utf-8", { fatal: true });
