import { useMemo } from "preact/hooks";
import { now } from "../../data/live.ts";
import { useParameter } from "../../state/parameter.ts";
import { durationText } from "../../widgets/duration.ts";
import { type Failed, type Failures, failuresOf, type Lane, lanesOf } from "./attempts.ts";
import { useEvents, type Whole } from "./data.ts";
import { useOpened } from "./opened.ts";
import type { Step } from "./steps.ts";
import { BAR_MIN, FoldChoice, isFoldingOf, LinePicture, WIDTH } from "./time_line.tsx";
import { type Timeline, timelineOf, type View, viewIn, viewText, zoomed } from "./timeline.ts";

/** What the drawings of all steps share. */
export interface Waterfall {
  /** From the first moment to the last, or until now while it is open: the part that is shown. */
  readonly line: Timeline;
  /** All of it. */
  readonly whole: Timeline;
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly lanes: readonly Lane[];
  readonly failures: Failures;
}

/**
 * The waterfall of a journal. It grows while the invocation is open. The address has the part that is
 * shown and whether long waits are folded.
 */
export function useWaterfall(row: Whole, steps: readonly Step[], everyMs: number): Waterfall {
  const { data: events } = useEvents(row.id, everyMs);
  const isFolding = isFoldingOf();
  const [zoom, setZoom] = useParameter("zoom");
  const failures = useMemo(() => failuresOf(events ?? [], steps), [events, steps]);
  const opened = useOpened();
  const end = opened ? Date.parse(opened.exported_at) : now.value;
  const until = row.status === "completed" ? undefined : end;
  const whole = useMemo(() => {
    const moments = steps.flatMap(({ at, endedAt }) => [at, endedAt])
      .filter((at) => at !== undefined).map((at) => Date.parse(at));
    const all = [...moments, ...[...failures.values()].flat().map(({ at }) => at)];
    return timelineOf(until === undefined || all.length === 0 ? all : [...all, until], isFolding);
  }, [steps, failures, until, isFolding]);
  const view = useMemo(() => viewIn(whole, zoom), [whole, zoom]);
  const line = useMemo(() => zoomed(whole, view), [whole, view]);
  const onView = (next: View) => setZoom(viewText(whole, next));
  const lanes = useMemo(() => lanesOf(row, failures, whole.to), [row, failures, whole]);
  return { line, whole, view, onView, lanes, failures };
}

/** A step on the line: from its command to its result, or until now. The columns say it in numbers. */
export function Bar({ step, line, failed }: {
  readonly step: Step;
  readonly line: Timeline;
  readonly failed: readonly Failed[];
}) {
  const { at, endedAt, result } = step;
  if (at === undefined) return null;
  const x = WIDTH * line.at(Date.parse(at));
  const end = result === "pending" ? line.to : Date.parse(endedAt ?? at);
  const width = Math.max(BAR_MIN, WIDTH * line.at(end) - x);
  return (
    <LinePicture line={line}>
      <rect
        class={result}
        x={x > WIDTH ? x : Math.min(x, WIDTH - BAR_MIN)}
        y={5}
        width={width}
        height={10}
      />
      {failed.map(({ at, text }) => (
        <rect key={at} class="attempt" x={WIDTH * line.at(at)} y={1} width={BAR_MIN} height={18}>
          <title>{text}</title>
        </rect>
      ))}
    </LinePicture>
  );
}

/** What the line means: how long all took, and what is folded. */
export function Legend({ whole: line, failures }: Waterfall) {
  const count = [...failures.values()].reduce((sum, { length }) => sum + length, 0);
  const folded = line.folds.map(({ ms }) => durationText(ms)).join(", ");
  return (
    <span class="legend">
      <FoldChoice />
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
