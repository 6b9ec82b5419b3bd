import { fromBase64, toBase64 } from "../model/base64.ts";
import type { LetterRef, OwedLetter } from "../model/kafka.ts";
import { attribute, DIALECTS, OWN } from "../names.ts";
import type { RecordView } from "./filter.ts";

/** A dead letter as a sidecar gets it, as JSON: the record of an invocation whose attempts are used up. */
export interface Letter extends LetterRef {
  readonly subscription: string;
  /** Why the last attempt failed, and when, in milliseconds since the epoch. */
  readonly reason: string;
  readonly at: number;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  /** As the record had it, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Base64. Null: the record had none. */
  readonly key: string | null;
  readonly value: string | null;
  /** Name and base64 of the value of each. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What a sidecar sends for letters. */
export interface LettersBody {
  /** Letters that it has written. */
  readonly written: readonly LetterRef[];
  /** Letters that it could not write. */
  readonly returned: readonly LetterRef[];
}

const KEPT = "record-headers";
const TOMBSTONE = "tombstone";

/**
 * The header of an invocation that keeps all headers of its record, for its dead letter. Their order and
 * bytes are those of the record.
 */
export function keptHeaders(
  headers: RecordView["headers"],
): readonly [name: string, value: string] {
  const pairs = headers.map(([name, value]) => [name, toBase64(value)]);
  return [attribute(OWN, KEPT), toBase64(new TextEncoder().encode(JSON.stringify(pairs)))];
}

/** The record of an invocation, from its input (`record_headers.ts`). */
export function letterOf({ headers, value, ...owed }: OwedLetter): Letter {
  const input = new Map(headers);
  const own = (name: string) =>
    DIALECTS.map((dialect) => input.get(attribute(dialect, name))).find((one) => one !== undefined);
  const key = input.get("kafka.key");
  return {
    ...owed,
    topic: input.get("kafka.topic") ?? "",
    partition: Number(input.get("kafka.partition")),
    offset: Number(input.get("kafka.offset")),
    timestamp: Number(input.get("kafka.timestamp")),
    key: key === undefined ? null : key.replace(/=+$/, ""),
    value: own(TOMBSTONE) === undefined ? toBase64(value) : null,
    headers: pairsOf(own(KEPT)),
  };
}

function pairsOf(kept: string | undefined): Letter["headers"] {
  const bytes = kept === undefined ? undefined : fromBase64(kept);
  return bytes ? JSON.parse(new TextDecoder().decode(bytes)) : [];
}
