import type { Int } from "../../../data/json.ts";
import type { EventRow } from "../data.ts";
import type { Step } from "../steps.ts";

/** The steps of a journal by each of their entries. */
export interface ByEntry {
  readonly steps: readonly Step[];
  /** The step that an entry begins or ends. */
  readonly of: ReadonlyMap<number, Step>;
}

/** Finds steps by their entries. */
export function byEntry(steps: readonly Step[]): ByEntry {
  const of = new Map<number, Step>();
  for (const step of steps) {
    of.set(step.index, step);
    if (step.resultIndex !== undefined) of.set(step.resultIndex, step);
  }
  return { steps, of };
}

/** The steps whose results were awaited right behind an entry. */
export function awaitedAt(steps: readonly Step[], position: number): Step[] {
  return steps.filter(({ index, result, resultIndex = Infinity }) =>
    index <= position && resultIndex > position &&
    (result === "pending" || resultIndex !== Infinity)
  );
}

/** How many attempts had failed before an entry was written: at least, and at most. */
export interface Failures {
  readonly least: number;
  readonly most: number;
}

/** What else than its events says how often an invocation has failed. */
export interface Counted {
  /** Failed attempts in all. Undefined: the server does not count them. */
  readonly failed: Int | undefined;
  /** The last of them may have ended it, of which there is no event. */
  readonly isGivenUp: boolean;
  /** An attempt wrote the entry; else it came from elsewhere, at any time. */
  readonly isCommand: boolean;
}

/**
 * Failed attempts before an entry was written. One that repeats the failure before it has no event, but
 * events say how many there were. A command ends such a series: the next failure has an event.
 */
export function failuresBefore(
  events: readonly EventRow[],
  position: number,
  { failed, isGivenUp, isCommand }: Counted,
): Failures {
  const isBefore = ({ after_journal_entry_index: after }: EventRow) => Number(after) < position;
  const before = events.filter(isBefore);
  if (failed === undefined) {
    return { least: before.filter(isFailure).length, most: Infinity };
  }
  const least = Math.max(0, ...before.map(countOf));
  const [next] = events.filter((event) => !isBefore(event)).toSorted(byCount);
  // A pause behind a command is of a failure that no other event has.
  const isOwn = next && (isCommand ? isFailure(next) : next.event_type !== "Paused");
  const most = Math.max(least, next ? countOf(next) - (isOwn ? 1 : 0) : Number(failed));
  if (!isCommand) return { least, most };
  return { least: !next && isGivenUp ? Math.max(least, most - 1) : most, most };
}

const countOf = ({ failed_attempts: count = 0 }: EventRow) => Number(count);
const byCount = (a: EventRow, b: EventRow) =>
  countOf(a) - countOf(b) || Number(isFailure(b)) - Number(isFailure(a));

/** A pause may be of an attempt that failed, and then has its failure. */
const isFailure = ({ event_type: type, event_json: json }: EventRow) =>
  type !== "Paused" || json.includes('"last_failure"');

/** Which attempt wrote an entry, as far as it is known. */
export function attemptText({ least, most }: Failures): string {
  if (most === Infinity && least > 0) {
    const times = least === 1 ? "1 failure" : `${least} failures`;
    return `attempt ${least + 1} or a later one, ${times} before it`;
  }
  if (least === most || most === Infinity) {
    return least === 0 ? "first attempt" : `attempt ${least + 1}`;
  }
  return `attempt ${least + 1} ${most === least + 1 ? "or" : "to"} ${most + 1}`;
}

/** What an entry is, in words: `call Cart/a/add()`, or `result of …`. */
export function nameOf(step: Step | undefined, position: number): string {
  if (step === undefined) return "unreadable entry";
  return step.index === position ? step.code : `result of ${step.code}`;
}
