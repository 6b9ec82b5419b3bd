import { partitionOfId } from "../model/ring.ts";
import { type Rows, sourceOf } from "../model/rows.ts";
import type { Reply } from "./effect.ts";
import type { Ingested, RecordRequest } from "./event.ts";
import { invoked } from "./lifecycle/invoked.ts";
import type { Turn } from "./turn.ts";

/**
 * Has records invoke handlers, each once (decision 052): those that were taken before are dropped, and
 * the row that says so moves on in the same turn. Takes as many as the inbox of the subscription has
 * room for, in the order of their offsets, and none while the part before this one is missing. After a
 * reshard it looks for the invocations as well: if a sidecar has sent batches out of order, rows of an
 * invocation must not be written over.
 */
export function ingested(turn: Turn, event: Ingested): void {
  const row = rowOf(turn, event);
  if (event.records.length === 0) return noted(turn, event, row);
  if (row.next < (event.after ?? 0)) return answer(turn, event, { next: row.next });
  const { source, next, records } = event;
  const fresh = records.filter((record) => !isTaken(row, record));
  const room = turn.inboxRoom.of(source.subscription);
  const first = fresh[room];
  const reached = Math.max(row.next, first ? first.offset : next);
  if (reached > row.next) turn.put("source", moved(row, event, reached));
  const taken = first ? fresh.slice(0, room) : fresh;
  if (taken.length > 0) turn.inboxRoom.take(source.subscription, taken.length);
  const mayExist = row.earlier !== undefined;
  for (const { request } of taken) {
    invoked(turn, { ...request, type: "invoked", fresh: request.fresh && !mayExist });
  }
  const replays = records.length - fresh.length;
  answer(turn, event, {
    next: reached,
    ...(first && { isFull: true }),
    ...(replays > 0 && { replays }),
  });
}

/** Notes what a sidecar is done with, and answers what the row knows (decision 058). */
function noted(turn: Turn, event: Ingested, row: Rows["source"]): void {
  const { settled } = event;
  const known = settled > row.settled ? moved(row, event, Math.max(row.next, settled)) : row;
  if (known !== row) turn.put("source", known);
  const { next, homes } = known;
  const told = homes === undefined ? {} : { homes };
  answer(turn, event, { next, settled: known.settled, ...told });
}

type Answer = Pick<Reply, "next" | "isFull" | "replays" | "settled" | "homes">;

function answer(turn: Turn, { reply }: Ingested, told: Answer): void {
  turn.emit({ type: "reply", reply, id: "", status: "done", ...told });
}

function rowOf(turn: Turn, { source }: Ingested): Rows["source"] {
  const home = turn.range.partition;
  return turn.find("source", sourceOf({ home, source })) ?? { home, source, next: 0, settled: 0 };
}

/**
 * Whether a record has become an invocation: here, or in the partition where it belonged before there
 * were as many partitions as now.
 */
function isTaken(
  { next, earlier }: Rows["source"],
  { offset, request: { id } }: RecordRequest,
): boolean {
  if (offset < next) return true;
  if (!earlier) return false;
  return earlier.some((nexts) => offset < (nexts[partitionOfId(id, nexts.length)] ?? 0));
}

function moved(
  { earlier, homes: _, ...row }: Rows["source"],
  { homes, ...event }: Ingested,
  next: number,
): Rows["source"] {
  const settled = Math.max(row.settled, event.settled);
  const open = earlier?.filter((nexts) => Math.max(...nexts) > next) ?? [];
  return {
    ...row,
    next,
    settled,
    ...(homes !== undefined && next === event.next && { homes }),
    ...(open.length > 0 && { earlier: open }),
  };
}
