import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { now } from "../../data/live.ts";
import { place } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Ranges } from "../../widgets/ranges.tsx";
import { Sparkline } from "../../widgets/sparkline.tsx";
import { type Figures, type History, historyOf } from "./figures.ts";
import { boundText, perMinuteText } from "./services.tsx";
import { doneIn, type DoneRow, type Range } from "./statements.ts";

const TITLES: Readonly<Record<Range, string>> = { hour: "Last hour", day: "Last day" };

/** How much was completed in a range that the address names, and how long it took. */
export function Throughput({ hour }: { readonly hour: History }) {
  const range = place.value.query.get("range") === "day" ? "day" : "hour";
  const day = useQuery<DoneRow>(doneIn("day"), {
    everyMs: EVERY_MS.overview,
    isOn: range === "day",
  });
  const history = range === "hour" ? hour : day.data &&
    historyOf(day.data, "day", day.at ?? now.value);
  return (
    <section aria-labelledby="throughput">
      <div class="row">
        <h2 id="throughput">Throughput</h2>
        <Ranges ranges={TITLES} chosen={range} />
      </div>
      {range === "day" && <FailedReads reads={[day]} />}
      {history
        ? <Shown history={history} range={range} />
        : <p class="loading" role="status">Loading…</p>}
    </section>
  );
}

function Shown({ history: { all, spanMs, isWhole }, range }: {
  readonly history: History;
  readonly range: Range;
}) {
  return (
    <>
      <p class="throughput">
        <Sparkline values={all.doneByTime} label={`Completed in the last ${range}: ${all.done}`} />
        <strong>{perMinuteText(all.donePerMinute)} per minute</strong>
        <span>{all.done.toLocaleString("en")} completed</span>
        <span>p50 {boundText(all.p50)}</span>
        <span>p95 {boundText(all.p95)}</span>
        <span>failed {shareOf(all)}</span>
      </p>
      <p class="quiet">
        In the last{" "}
        {isWhole ? range : durationText(spanMs)}: from when an invocation was accepted until it was
        completed. Those that were accepted more than {range === "hour" ? "a day" : "two days"}{" "}
        ago do not count.
      </p>
    </>
  );
}

function shareOf({ done, failed }: Figures): string {
  if (done === 0) return "none";
  return `${((failed / done) * 100).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}
