import { type EventRow, failureIn, type Whole } from "./data.ts";
import type { Step } from "./steps.ts";

/** An attempt that failed, in ms since the epoch. */
export interface Failed {
  readonly at: number;
  /** Why. */
  readonly text: string;
  /** How many had failed by then. Undefined: the server does not count them. */
  readonly count?: number;
}

/** Failed attempts by the step at which they failed. */
export type Failures = ReadonlyMap<number, readonly Failed[]>;

/** When attempts failed, by the step at which they did, or the last one before. */
export function failuresOf(events: readonly EventRow[], steps: readonly Step[]): Failures {
  const commands = steps.filter(({ type }) => type !== "Signal");
  const failures = new Map<number, Failed[]>();
  for (const event of events) {
    const { related_command_index: command, error_message: text = "" } = failureIn(event);
    // It counts commands, not entries.
    const step = commands[command ?? -1] ??
      commands.findLast(({ index }) => index <= Number(event.after_journal_entry_index));
    if (!step) continue;
    const { failed_attempts: count } = event;
    const failed = {
      at: Date.parse(event.appended_at),
      text,
      ...(count !== undefined && { count: Number(count) }),
    };
    failures.set(step.index, [...failures.get(step.index) ?? [], failed]);
  }
  return failures;
}

/** The time from one failure to the next, in ms since the epoch: attempts, and the waits before them. */
export interface Lane {
  readonly number: number;
  /** Which attempts: `attempt 1`, `attempts 2 to 5`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Why it failed. Absent: it is the last one. */
  readonly text?: string;
}

type Row = Pick<Whole, "running_at" | "created_at" | "status" | "failed_attempts">;

/**
 * The attempts of an invocation. A failure that repeats is stored once, so that a lane may be of several
 * attempts. `end`: where the line ends.
 */
export function lanesOf(row: Row, failures: Failures, end: number): Lane[] {
  const failed = [...failures.values()].flat().toSorted((a, b) => a.at - b.at);
  let from = Date.parse(row.running_at ?? row.created_at);
  let before = 0;
  const lanes: Lane[] = [];
  for (const { at, text, count = before + 1 } of failed) {
    const name = nameOf(before + 1, count);
    lanes.push({ number: lanes.length + 1, name, from, to: at, text });
    from = at;
    before = Math.max(before, count);
  }
  if (from >= end) return lanes;
  // The next one has not begun while it waits for it.
  const next = row.status === "backing-off" || row.status === "paused" ? 0 : 1;
  const name = nameOf(before + 1, Number(row.failed_attempts ?? before) + next);
  return [...lanes, { number: lanes.length + 1, name, from, to: end }];
}

function nameOf(first: number, last: number): string {
  return last > first ? `attempts ${first} to ${last}` : `attempt ${first}`;
}
