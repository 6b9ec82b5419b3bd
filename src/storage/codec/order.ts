import { type Item, peerOf, type Rows, type Timer, timerItem } from "../../model/rows.ts";

const WIDE = /[\ud800-\uffff]/;

/** Orders strings by code point, as databases do. JavaScript's own order is by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  if (!WIDE.test(a) && !WIDE.test(b)) return a < b ? -1 : 1;
  for (let i = 0; i < a.length && i < b.length;) {
    const left = a.codePointAt(i) ?? 0;
    const difference = left - (b.codePointAt(i) ?? 0);
    if (difference !== 0) return difference;
    i += left > 0xffff ? 2 : 1;
  }
  return a.length - b.length;
}

/** Orders the items of one group. They are all numbers or all strings. */
export function compareItems(a: Item, b: Item): number {
  return typeof a === "number" && typeof b === "number" ? a - b : compareText(String(a), String(b));
}

/** Orders timers by due time, then id, then item. */
export function compareTimers(a: Timer, b: Timer): number {
  return a.due - b.due || compareText(a.id, b.id) || compareText(timerItem(a), timerItem(b));
}

/** Orders invocations that wait by queue, then by place. */
export function compareQueued(
  a: { readonly queue: string; readonly seq: number },
  b: { readonly queue: string; readonly seq: number },
): number {
  return compareText(a.queue, b.queue) || a.seq - b.seq;
}

type Sent = Pick<Rows["outbox"], "from" | "to" | "seq">;

/** Orders messages by the partitions they are between, as text, then by number. */
export function compareOutbox(a: Sent, b: Sent): number {
  return compareText(peerOf(a), peerOf(b)) || a.seq - b.seq;
}
