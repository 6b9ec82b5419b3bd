import { holdsSlots, type InvocationRow, letterSinceOf } from "../../model/invocation.ts";
import type { DamagedHolder, Holder, Scan } from "../../scan.ts";
import { compareQueued, compareText } from "../codec/order.ts";
import { decodeInvocation } from "../codec/row_codec.ts";
import { fromSafe, fromUtf8, toSafe } from "../codec/safe_text.ts";
import { statement } from "../codec/sql_text.ts";
import type { SqlRow } from "../../ports.ts";
import type { Overlay } from "../overlay/overlay.ts";
import type { Candidate, Kind } from "./scan.ts";
import { scanSql } from "./sql.ts";

/** Sorts after every name of a queue or a counter. */
const LAST = "\u{10ffff}";

/** Invocations that hold slots (decision 050). */
export function holders(
  { after, limit }: Scan & { kind: "holders" },
  overlay: Overlay,
  partition: number,
): Kind {
  const { live, known } = liveRows(
    overlay,
    (row) =>
      holdsSlots(row.status) && (after === undefined || compareText(row.id, after) > 0)
        ? { id: row.id, holder: holderOf(row) }
        : undefined,
  );
  return {
    // No id is empty, so every id sorts after the empty text.
    page: (last) => statement(scanSql.holders, partition, toSafe(last?.id ?? after ?? ""), limit),
    decode: (columns) => {
      const id = fromSafe(columns["id"] as string);
      return { id, holder: foundHolder(id, columns) };
    },
    compare: (a, b) => compareText(a.id, b.id),
    live,
    isStale: ({ id }) => known.has(id),
  };
}

function holderOf({ id, target, limitKey, status }: InvocationRow): Holder {
  return { id, target, limitKey, status };
}

/** Compares what the index says of a row, column `status`, with the content of the row. */
function foundHolder(id: string, { status: indexed, body }: SqlRow): Holder | DamagedHolder {
  let row: InvocationRow;
  try {
    row = decodeInvocation(fromUtf8(body as Uint8Array), null);
  } catch {
    // Any error of a decoder means that the row is damaged.
    return { id, damage: "its row cannot be decoded" };
  }
  const { target, limitKey, status } = row;
  if (row.id !== id || typeof target?.service !== "string") {
    return { id, damage: "its row has the content of another one" };
  }
  if (status.kind === indexed && holdsSlots(status)) return holderOf(row);
  const damage = `its column "status" is "${indexed}", and its content says "${status.kind}"`;
  return { id, damage, counted: { target, limitKey } };
}

/** Invocations that wait, by queue. */
export function queued(
  { after = { queue: "", seq: -1 }, isSameQueue, limit }: Scan & { kind: "queued" },
  overlay: Overlay,
  partition: number,
): Kind {
  const { live, known } = liveRows(overlay, ({ id, status }) => {
    if (status.kind !== "queued" || isSameQueue && status.queue !== after.queue) return undefined;
    const { queue, seq } = status;
    return compareQueued(status, after) > 0 ? { id, queued: { id, queue, seq } } : undefined;
  });
  const until = isSameQueue ? after.queue : LAST;
  return {
    page: (last) => {
      const { queue, seq } = last?.queued ?? after;
      return statement(scanSql.queued, partition, queue, seq, until, limit);
    },
    decode: (columns) => {
      const id = fromSafe(columns["id"] as string);
      const queue = columns["queue"] as string, seq = columns["queue_seq"] as number;
      return { id, queued: { id, queue, seq } };
    },
    compare: (a, b) => a.queued && b.queued ? compareQueued(a.queued, b.queued) : 0,
    live,
    isStale: ({ id }) => known.has(id),
  };
}

/** Invocations of subscriptions that are not completed, for their inbox limit (decision 052). */
export function ingested(
  { after, limit }: Scan & { kind: "ingested" },
  overlay: Overlay,
  partition: number,
): Kind {
  const { live, known } = liveRows(overlay, ({ id, origin, status }) => {
    if (origin.by !== "subscription" || status.kind === "completed") return undefined;
    if (after !== undefined && compareText(id, after) <= 0) return undefined;
    return { id, ingested: { id, subscription: origin.id } };
  });
  return {
    page: (last) => statement(scanSql.ingested, partition, toSafe(last?.id ?? after ?? ""), limit),
    decode: (columns) => {
      const id = fromSafe(columns["id"] as string);
      return { id, ingested: { id, subscription: fromSafe(columns["subscription"] as string) } };
    },
    compare: (a, b) => compareText(a.id, b.id),
    live,
    isStale: ({ id }) => known.has(id),
  };
}

/** Invocations that owe a dead letter (decision 053). */
export function letters(
  { after, limit }: Scan & { kind: "letters" },
  overlay: Overlay,
  partition: number,
): Kind {
  const { live, known } = liveRows(overlay, (row) => {
    const isAfter = after === undefined || compareText(row.id, after) > 0;
    return isAfter && letterSinceOf(row) !== undefined ? { id: row.id } : undefined;
  });
  return {
    page: (last) => statement(scanSql.letters, partition, toSafe(last?.id ?? after ?? ""), limit),
    decode: (columns) => ({ id: fromSafe(columns["id"] as string) }),
    compare: (a, b) => compareText(a.id, b.id),
    live,
    isStale: ({ id }) => known.has(id),
  };
}

/** The invocations of the overlay that a scan returns, and the ids of all of them. */
function liveRows(
  overlay: Overlay,
  candidateOf: (row: InvocationRow) => Candidate | undefined,
): { readonly live: Candidate[]; readonly known: ReadonlySet<string> } {
  const live: Candidate[] = [];
  const known = new Set<string>();
  for (const [id, , { row }] of overlay.known("invocation")) {
    known.add(id);
    const found = row && candidateOf(row);
    if (found) live.push(found);
  }
  return { live, known };
}
