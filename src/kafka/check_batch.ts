import { Failure } from "../errors.ts";
import type { RecordBatch } from "../model/kafka.ts";

/** Records of one batch. */
export const RECORDS_MAX = 4_000;

/** Characters of topics are at most 249; of groups there is no limit that all brokers have. */
const TEXT_MAX = 1000;

/** Checks what the fields of a decoded batch say. Throws `Failure` 400 that names the field. */
export function checkBatch({ records, next, partition, ...source }: RecordBatch): void {
  for (const name of ["subscription", "group", "topic"] as const) {
    const value: unknown = source[name];
    if (typeof value !== "string" || value.length > TEXT_MAX) throw bad(name, "is no text");
  }
  if (!isWhole(partition)) throw bad("partition", "is no whole number");
  if (!isWhole(next)) throw bad("next", "is no whole number");
  if (records.length > RECORDS_MAX) throw bad("records", `are more than ${RECORDS_MAX}`);
  let least = 0;
  for (let index = 0; index < records.length; index++) {
    const record = records[index]!;
    const problem = problemOf(record, { least, next });
    if (problem) throw bad(`records.${index}.${problem[0]}`, problem[1]);
    least = record.offset + 1;
  }
}

const TEXTS = ["objectKey", "scope", "limitKey", "traceparent"] as const;

/** A field that cannot be used, and why. */
function problemOf(
  record: RecordBatch["records"][number],
  { least, next }: { readonly least: number; readonly next: number },
): readonly [field: string, why: string] | undefined {
  const { offset, timestamp, headers } = record;
  if (!isWhole(offset)) return ["offset", "is no whole number"];
  if (offset < least) return ["offset", "is not larger than the one before"];
  if (offset >= next) return ["offset", "is not smaller than next"];
  if (!Number.isSafeInteger(timestamp)) return ["timestamp", "is no whole number"];
  for (const name of TEXTS) {
    const value: unknown = record[name];
    if (value !== undefined && typeof value !== "string") return [name, "is no text"];
  }
  return isPairs(headers) ? undefined : ["headers", "are no pairs of texts"];
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isPairs(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((one) =>
      Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === "string")
    );
}

function bad(field: string, why: string): Failure {
  return Failure.plain(400, `Cannot use the batch of records: '${field}' ${why}`);
}
