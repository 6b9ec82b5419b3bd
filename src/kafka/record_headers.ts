import { toBase64 } from "../model/base64.ts";
import type { HeaderPair } from "../model/journal.ts";
import type { IngestRecord, RecordSource } from "../model/kafka.ts";
import { attribute, type Dialect, OWN } from "../names.ts";

const OWN_PREFIX = attribute(OWN, "");

/** The headers of a record of one source, as of `recordHeadersOf`. */
export type RecordHeaders = (record: IngestRecord) => HeaderPair[];

/**
 * The headers that the handler gets: those that describe the record, in the order of the reference, and
 * those that the sidecar passes on, which replace none of them. Ours are spelled for the handler.
 * Records share the pairs that are the same for all of their source.
 */
export function recordHeadersOf(
  { topic, partition, subscription }: RecordSource,
  dialect: Dialect,
): RecordHeaders {
  const ofTopic: HeaderPair = ["kafka.topic", topic];
  const ofPartition: HeaderPair = ["kafka.partition", String(partition)];
  const ofSubscription: HeaderPair = [attribute(dialect, "subscription.id"), subscription];
  return ({ offset, timestamp, key, headers }) => {
    const own: HeaderPair[] = [
      ["kafka.offset", String(offset)],
      ofTopic,
      ofPartition,
      ["kafka.timestamp", String(timestamp)],
      ofSubscription,
    ];
    if (key) own.push(["kafka.key", padded(toBase64(key))]);
    for (const [name, value] of headers) {
      const spelled = name.startsWith(OWN_PREFIX)
        ? attribute(dialect, name.slice(OWN_PREFIX.length))
        : name;
      if (!own.some(([known]) => known === spelled)) own.push([spelled, value]);
    }
    return own;
  };
}

function padded(base64: string): string {
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
