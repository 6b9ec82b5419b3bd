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
  for (const [index, { offset, timestamp, ...texts }] of records.entries()) {
    const place = `records.${index}`;
    if (!isWhole(offset)) throw bad(`${place}.offset`, "is no whole number");
    if (offset < least) throw bad(`${place}.offset`, "is not larger than the one before");
    if (offset >= next) throw bad(`${place}.offset`, "is not smaller than next");
    if (!Number.isSafeInteger(timestamp)) throw bad(`${place}.timestamp`, "is no whole number");
    least = offset + 1;
    for (const name of ["objectKey", "scope", "limitKey", "traceparent"] as const) {
      const value: unknown = texts[name];
      if (value !== undefined && typeof value !== "string") {
        throw bad(`${place}.${name}`, "is no text");
      }
    }
    if (!isPairs(texts.headers)) throw bad(`${place}.headers`, "are no pairs of texts");
  }
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
