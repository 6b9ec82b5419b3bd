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

/** Failed attempts before an entry was written. One that repeats the failure before it is not recorded. */
export function failuresBefore(events: readonly EventRow[], position: number): number {
  return events.filter(({ after_journal_entry_index: after, event_type: type, event_json: json }) =>
    Number(after) < position && (type !== "Paused" || json.includes('"last_failure"'))
  ).length;
}

/** Which attempt wrote an entry, as far as it is known. */
export function attemptText(failures: number): string {
  if (failures === 0) return "first attempt";
  return `attempt ${failures + 1} or a later one, ${
    failures === 1 ? "1 failure" : `${failures} failures`
  } before it`;
}

/** What an entry is, in words: `call Cart/a/add()`, or `result of …`. */
export function nameOf(step: Step | undefined, position: number): string {
  if (step === undefined) return "unreadable entry";
  return step.index === position ? step.code : `result of ${step.code}`;
}
