import { useMemo, useState } from "preact/hooks";
import { now } from "../../data/live.ts";
import { durationText } from "../../widgets/duration.ts";
import { type EventRow, useEvents, type Whole } from "./data.ts";
import { useOpened } from "./opened.ts";
import type { Step } from "./steps.ts";
import { BAR_MIN, FoldChoice, LinePicture, WIDTH } from "./time_line.tsx";
import { type Timeline, timelineOf } from "./timeline.ts";

/** Attempts that failed at a step, in ms since the epoch. */
export type Failures = ReadonlyMap<number, readonly number[]>;

/** When attempts failed, by the step at which they did, or the last one before. */
function failuresOf(events: readonly EventRow[], steps: readonly Step[]): Failures {
  const commands = steps.filter(({ type }) => type !== "Signal");
  const failures = new Map<number, number[]>();
  for (const { appended_at: at, event_json: json, after_journal_entry_index: after } of events) {
    // It counts commands, not entries.
    const [, command = ""] = /"related_command_index":(\d+)/.exec(json) ?? [];
    const step = commands[Number(command || Number.NaN)] ??
      commands.findLast(({ index }) => index <= Number(after));
    if (!step) continue;
    failures.set(step.index, [...failures.get(step.index) ?? [], Date.parse(at)]);
  }
  return failures;
}

/** What the drawings of all steps share. */
export interface Waterfall {
  /** From the first moment to the last, or until now while it is open. */
  readonly line: Timeline;
  readonly failures: Failures;
  readonly isFolding: boolean;
  readonly onFold: (isFolding: boolean) => void;
}

/** The waterfall of a journal. It grows while the invocation is open. */
export function useWaterfall(row: Whole, steps: readonly Step[], everyMs: number): Waterfall {
  const { data: events } = useEvents(row.id, everyMs);
  const [isFolding, onFold] = useState(true);
  const failures = useMemo(() => failuresOf(events ?? [], steps), [events, steps]);
  const opened = useOpened();
  const end = opened ? Date.parse(opened.exported_at) : now.value;
  const until = row.status === "completed" ? undefined : end;
  const line = useMemo(() => {
    const moments = steps.flatMap(({ at, endedAt }) => [at, endedAt])
      .filter((at) => at !== undefined).map((at) => Date.parse(at));
    const all = [...moments, ...[...failures.values()].flat()];
    return timelineOf(until === undefined || all.length === 0 ? all : [...all, until], isFolding);
  }, [steps, failures, until, isFolding]);
  return { line, failures, isFolding, onFold };
}

/** A step on the line: from its command to its result, or until now. The columns say it in numbers. */
export function Bar({ step, line, failed }: {
  readonly step: Step;
  readonly line: Timeline;
  readonly failed: readonly number[];
}) {
  const { at, endedAt, result } = step;
  if (at === undefined) return null;
  const x = WIDTH * line.at(Date.parse(at));
  const end = result === "pending" ? line.to : Date.parse(endedAt ?? at);
  const width = Math.max(BAR_MIN, WIDTH * line.at(end) - x);
  return (
    <LinePicture line={line}>
      <rect class={result} x={Math.min(x, WIDTH - BAR_MIN)} y={5} width={width} height={10} />
      {failed.map((ms) => (
        <rect key={ms} class="attempt" x={WIDTH * line.at(ms)} y={1} width={BAR_MIN} height={18} />
      ))}
    </LinePicture>
  );
}

/** What the line means: how long all took, and what is folded. */
export function Legend({ line, failures, isFolding, onFold }: Waterfall) {
  const count = [...failures.values()].reduce((sum, { length }) => sum + length, 0);
  const folded = line.folds.map(({ ms }) => durationText(ms)).join(", ");
  return (
    <span class="legend">
      <FoldChoice isFolding={isFolding} onFold={onFold} />
      <span class="quiet">
        {`${durationText(line.to - line.from)} in all`}
        {folded === "" ? "" : `, folded: ${folded}`}
        {count === 0
          ? ""
          : `, ${count} failed ${count === 1 ? "attempt is" : "attempts are"} marked`}
      </span>
    </span>
  );
}
