import { durationText } from "../../widgets/duration.ts";
import type { EventRow, Whole } from "./data.ts";
import type { Step } from "./steps.ts";

/** What an invocation has spent its time with since it started, in ms, as its journal tells it. */
export interface Spent {
  /** The handler or a step of it ran. */
  readonly busyMs: number;
  /** It waited for a result or a signal, suspended or not. */
  readonly awaitedMs: number;
  /**
   * From a failed attempt or a pause until it went on: further attempts and the waits between them,
   * which are not recorded one by one.
   */
  readonly retriedMs: number;
}

interface Known {
  readonly events: readonly Pick<EventRow, "appended_at">[];
  /** In ms since the epoch. */
  readonly now: number;
}

/** The same for people, by name. Nothing before it starts. */
export function spentTexts(
  row: Whole,
  steps: readonly Step[],
  known: Known,
): readonly (readonly [string, string])[] {
  if (row.running_at === undefined) return [];
  const spent = spentOf(row, steps, known);
  const times = suspensionsText(row.num_suspensions);
  if (!spent) return [["Busy", "not known: there is no journal"], ...times];
  const { busyMs, awaitedMs, retriedMs } = spent;
  return [
    ["Busy", durationText(busyMs)],
    ["Awaited results", durationText(awaitedMs)],
    ...(retriedMs > 0 ? [["Retried or paused", durationText(retriedMs)] as const] : []),
    ...times,
  ];
}

/** How often it was suspended. For how long is not told. Nothing where the server does not say it. */
function suspensionsText(count: Whole["num_suspensions"]): [string, string][] {
  const times = Number(count);
  if (!Number.isSafeInteger(times)) return [];
  return [["Suspended", times === 0 ? "never" : times === 1 ? "once" : `${times} times`]];
}

/** A moment of a journal: a command was written, or a result came. */
interface Moment {
  readonly at: number;
  readonly index: number;
  readonly kind: "command" | "result";
  /** Steps that begin to run there, or end: 1, -1, else 0. */
  readonly runs: number;
  /** Whether it waits for a result from there on. */
  readonly isAwaiting: boolean;
}

/**
 * What the time from its start to its end, or to `now`, was spent with: what comes next in the journal
 * tells what it did before. Undefined: it has not started, or has no journal (any more).
 */
export function spentOf(
  row: Pick<Whole, "running_at" | "completed_at" | "status">,
  steps: readonly Step[],
  { events, now }: Known,
): Spent | undefined {
  if (row.running_at === undefined || steps.length === 0) return undefined;
  const stops = events.map(({ appended_at: at }) => Date.parse(at)).toSorted((a, b) => a - b);
  const spent = { busyMs: 0, awaitedMs: 0, retriedMs: 0 };
  let from = Date.parse(row.running_at);
  let [runs, next] = [0, 0];
  const passed = (to: number, isAwaiting: boolean) => {
    // Clocks may step back, and the input is there before it starts.
    if (to <= from) return;
    // One that fell into the same millisecond as the entry before it came behind it.
    while (next < stops.length && stops[next]! < from) next++;
    const stop = Math.min(stops[next] ?? to, to);
    spent[isAwaiting && runs <= 0 ? "awaitedMs" : "busyMs"] += stop - from;
    spent.retriedMs += to - stop;
    from = to;
  };
  const moments = momentsOf(steps);
  for (const moment of moments) {
    passed(moment.at, moment.kind === "result");
    runs += moment.runs;
  }
  const end = row.completed_at === undefined ? now : Date.parse(row.completed_at);
  passed(end, WAITING.includes(row.status) || moments.at(-1)?.isAwaiting === true);
  return spent;
}

/** Values of `sys_invocation.status` of what has started and does not run. */
const WAITING = ["suspended", "pending", "ready"];

/** In the order of the journal. */
function momentsOf(steps: readonly Step[]): Moment[] {
  const moments = steps.flatMap((step): Moment[] => {
    const { index, at, resultIndex, endedAt, type, result } = step;
    if (at === undefined) return [];
    const isRun = type === "Run";
    const hasResult = resultIndex !== undefined || result === "pending";
    const begin: Moment = {
      ...{ at: Date.parse(at), index, kind: type === "Signal" ? "result" : "command" },
      runs: isRun && hasResult ? 1 : 0,
      isAwaiting: hasResult && !isRun,
    };
    if (resultIndex === undefined || endedAt === undefined) return [begin];
    const runs = isRun ? -1 : 0;
    return [begin, {
      ...{ at: Date.parse(endedAt), index: resultIndex, kind: isRun ? "command" : "result" },
      ...{ runs, isAwaiting: false },
    }];
  });
  return moments.toSorted((a, b) => a.index - b.index);
}
