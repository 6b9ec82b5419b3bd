import type { Used } from "../../data/hooks.ts";
import { now } from "../../data/live.ts";
import { place } from "../../state/router.ts";
import { type Bar, Bars } from "../../widgets/bars.tsx";
import { durationText } from "../../widgets/duration.ts";
import { formatted } from "../../widgets/moment.ts";
import { Empty, FailedReads } from "../../widgets/empty.tsx";
import { Ranges } from "../../widgets/ranges.tsx";
import {
  CLASSES_MS,
  type InClass,
  type InTime,
  type Range,
  useDurations,
  useOldest,
  useThroughput,
} from "./statements.ts";

const RANGES: Readonly<Record<Range, string>> = {
  hour: "Last hour",
  day: "Last day",
  retention: "All that is kept",
};
const LENGTHS_S: Readonly<Record<Exclude<Range, "retention">, number>> = {
  hour: 3_600,
  day: 86_400,
};
/** Bars of a chart over time, about. */
const BARS = 60;
/** Lengths of time that a bar may stand for, in s. */
const WIDTHS_S = [
  ...[1, 5, 15, 60, 300, 900],
  ...[1_800, 3_600, 14_400, 43_200, 86_400, 604_800],
];
const MS = 1_000;

/** Throughput and durations of a service, over a time that the address names. */
export function Charts({ service }: { readonly service: string }) {
  const named = place.value.query.get("range");
  const range: Range = named === "day" || named === "retention" ? named : "hour";
  const durations = useDurations(service, range);
  const oldest = useOldest(service, range === "retention");
  const seconds = lengthOf(range, oldest);
  const width = seconds === undefined
    ? undefined
    : WIDTHS_S.find((one) => one * BARS >= seconds) ?? WIDTHS_S.at(-1)!;
  const throughput = useThroughput(service, range, width);
  return (
    <section aria-labelledby="charts">
      <h2 id="charts">Throughput and durations</h2>
      <Ranges ranges={RANGES} chosen={range} />
      <FailedReads reads={[durations, throughput, oldest]} />
      {durations.data?.length === 0 && <Empty title="Nothing ended in this time." />}
      {durations.data && durations.data.length > 0 && (
        <div class="charts">
          {width !== undefined && throughput.data && (
            <Bars
              title={`Ended per ${durationText(width * MS)}`}
              unit="invocations"
              axis="From"
              bars={timeBars(throughput.data, width, seconds!)}
            />
          )}
          <Bars
            title="From call to result"
            unit="invocations"
            axis="At most"
            bars={classBars(durations.data)}
          />
        </div>
      )}
    </section>
  );
}

/** How long a range is in s. Undefined: it is not known yet. */
function lengthOf(range: Range, { data }: Used<{ readonly oldest?: string }[]>) {
  if (range !== "retention") return LENGTHS_S[range];
  const oldest = data?.[0]?.oldest;
  if (oldest === undefined) return undefined;
  return Math.max(1, (now.peek() - Date.parse(oldest)) / MS);
}

/** A bar for each part of the time, also where nothing ended. */
function timeBars(rows: readonly InTime[], width: number, seconds: number): Bar[] {
  const byTime = new Map(rows.map((row) => [Date.parse(row.at) / MS / width, row]));
  // The clock of the server may be ahead of the browser's.
  const last = Math.max(Math.floor(now.peek() / MS / width), ...byTime.keys());
  const first = last - Math.ceil(seconds / width);
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const row = byTime.get(first + at);
    const label = timeText((first + at) * width * MS, seconds);
    return { label, value: Number(row?.n ?? 0), failed: Number(row?.failed ?? 0) };
  });
}

function timeText(at: number, seconds: number): string {
  const time = { hour: "2-digit", minute: "2-digit", second: "2-digit" } as const;
  const day = seconds > LENGTHS_S.hour ? { month: "short", day: "numeric" } as const : {};
  return formatted(new Date(at), { ...day, ...time });
}

/** A bar for each class of durations, from the shortest to the longest that occurred. */
function classBars(rows: readonly InClass[]): Bar[] {
  const byClass = new Map(rows.map((row) => [Number(row.class), Number(row.n)]));
  const found = [...byClass.keys()];
  const [first, last] = [Math.min(...found), Math.max(...found)];
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const ms = CLASSES_MS[first + at];
    const label = ms === undefined ? `over ${durationText(CLASSES_MS.at(-1)!)}` : durationText(ms);
    return { label, value: byClass.get(first + at) ?? 0 };
  });
}
