import { toBase64 } from "../model/base64.ts";
import type { HeaderPair } from "../model/journal.ts";
import type { IngestRecord, RecordSource } from "../model/kafka.ts";
import { attribute, type Dialect, OWN } from "../names.ts";

const OWN_PREFIX = attribute(OWN, "");

/**
 * The headers that the handler gets: those that describe the record, in the order of the reference, and
 * those that the sidecar passes on, which replace none of them. Ours are spelled for the handler.
 */
export function recordHeaders(
  { topic, partition, subscription }: RecordSource,
  { offset, timestamp, key, headers }: IngestRecord,
  dialect: Dialect,
): HeaderPair[] {
  const own: HeaderPair[] = [
    ["kafka.offset", String(offset)],
    ["kafka.topic", topic],
    ["kafka.partition", String(partition)],
    ["kafka.timestamp", String(timestamp)],
    [attribute(dialect, "subscription.id"), subscription],
  ];
  if (key) own.push(["kafka.key", padded(toBase64(key))]);
  for (const [name, value] of headers) {
    const spelled = name.startsWith(OWN_PREFIX)
      ? attribute(dialect, name.slice(OWN_PREFIX.length))
      : name;
    if (!own.some(([known]) => known === spelled)) own.push([spelled, value]);
  }
  return own;
}

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
