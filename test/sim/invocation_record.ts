import type { Awaiting, InvocationRow } from "../../src/model/invocation.ts";
import { type Entry, entryType, type Result } from "../../src/model/journal.ts";
import { must } from "./must.ts";
import { textOf } from "./spoken.ts";
import type { Spoken } from "./spoken.ts";

/** How an attempt suspended. */
export interface Sleep {
  readonly attempt: number;
  readonly awaiting: Awaiting;
  /** Entries below this were known to it. */
  readonly delivered: number;
}

/** Everything that was ever durable about one life of an invocation. */
export interface InvocationRecord {
  row: InvocationRow;
  readonly entries: Entry[];
  result: Result | undefined;
  isForgotten: boolean;
  /** The commit that accepted it, and the one that completed it. */
  readonly since: number;
  until: number;
  /** Entries that were copied from another invocation. */
  readonly copied: number;
  /** What commands with this completion said. */
  readonly spoken: Map<number, Spoken>;
  /** Signals that came, by their texts. */
  readonly signals: Set<string>;
  /** The owner under whom the last attempt was ordered. */
  epoch: number;
  sleep: Sleep | undefined;
  /** An attempt that said what to do instead of trying again. */
  gaveUp: { readonly attempt: number; readonly behavior: "pause" | "fail" } | undefined;
  /** How often an operator, and not a notification or a timer, made it continue. */
  woken: number;
  /** The life before this one, of the same id. */
  readonly before: InvocationRecord | undefined;
}

/** The lives of an invocation, the last one first. */
export function* lives(record: InvocationRecord | undefined): Generator<InvocationRecord> {
  for (let one = record; one; one = one.before) yield one;
}

/** How many cancels have come. */
export function cancelsOf({ entries }: InvocationRecord): number {
  return entries.filter(isCancel).length;
}

/** Whether this asks an invocation to cancel itself. */
export function isCancel(entry: Entry): boolean {
  return entry.kind === "notification" && entry.id.kind === "signal" && entry.id.index === 1;
}

/** Whether an invocation ended before it began, or was killed. */
export function isPutToEnd(result: Result): boolean {
  return result.kind === "failure" && result.failure.code === 409 &&
    ["killed", "canceled"].includes(result.failure.message);
}

/** Whether two values look the same. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || shown(a) === shown(b);
}

function shown(value: unknown): string {
  return JSON.stringify(
    value,
    (_, part) => part instanceof Uint8Array ? textOf(part) : part,
  ) ?? "undefined";
}

/** A result has an output command, if the journal is still kept. */
export function mustHaveSaid(
  { row: { id, journal }, entries, isForgotten }: InvocationRecord,
): void {
  if (isForgotten || journal < entries.length) return;
  const isSaid = entries.some((one) => one.kind === "command" && one.type === entryType.output);
  must(isSaid, () => `"${id}" has a result that nobody said`);
}

/** Whether a row is not what became of another one, but one more of the same id. */
export function isAnew(
  { row: known, result, isForgotten }: InvocationRecord,
  row: InvocationRow,
): boolean {
  return isForgotten || row.createdAt !== known.createdAt ||
    (result !== undefined && row.status.kind !== "completed");
}
