import { type EventRow, failureIn, type Whole } from "./data.ts";
import type { Step } from "./steps.ts";

/** An attempt that failed, in ms since the epoch. */
export interface Failed {
  readonly at: number;
  /** Why. */
  readonly text: string;
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
    const failed = { at: Date.parse(event.appended_at), text };
    failures.set(step.index, [...failures.get(step.index) ?? [], failed]);
  }
  return failures;
}

/** The time from one failure to the next, in ms since the epoch: an attempt, and the wait before it. */
export interface Lane {
  readonly number: number;
  readonly from: number;
  readonly to: number;
  /** Why it failed. Absent: it is the last one. */
  readonly text?: string;
}

/**
 * The attempts of an invocation. A failure that repeats is stored once, so that a lane may be of several
 * attempts. `end`: where the line ends.
 */
export function lanesOf(
  { running_at, created_at }: Pick<Whole, "running_at" | "created_at">,
  failures: Failures,
  end: number,
): Lane[] {
  const failed = [...failures.values()].flat().toSorted((a, b) => a.at - b.at);
  let from = Date.parse(running_at ?? created_at);
  const lanes: Lane[] = [];
  for (const { at, text } of failed) {
    lanes.push({ number: lanes.length + 1, from, to: at, text });
    from = at;
  }
  if (from < end) lanes.push({ number: lanes.length + 1, from, to: end });
  return lanes;
}
