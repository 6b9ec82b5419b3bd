import { filterLink } from "../../data/filter_link.ts";
import { Icon } from "../../widgets/icon.tsx";
import { Sparkline } from "../../widgets/sparkline.tsx";
import type { Status } from "../../widgets/status.tsx";
import type { Figures } from "./figures.ts";
import { countsIn, type OpenRow } from "./statements.ts";

interface Counter {
  readonly title: string;
  /** Whose icon and color it has. */
  readonly status: Status;
  readonly filter: readonly Status[];
}

/** In the order of `countsIn`. */
const COUNTERS: readonly Counter[] = [
  { title: "Running", status: "running", filter: ["running"] },
  { title: "Retrying", status: "retrying", filter: ["retrying"] },
  {
    title: "Waiting",
    status: "pending",
    filter: ["scheduled", "pending", "ready", "suspended"],
  },
  { title: "Paused", status: "paused", filter: ["paused"] },
];

/** Samples that are kept of each counter. */
const SAMPLES_MAX = 30;
/** What was seen since the UI was opened: the server keeps no such history. */
const samples = new Map<string, readonly number[]>();
let sampledAt = 0;

/** Keeps counts that were answered at a moment, once. Before they are drawn: they are part of it. */
function sample(counts: readonly number[], at: number | undefined): void {
  if (at === undefined || at <= sampledAt) return;
  sampledAt = at;
  for (const [index, { title }] of COUNTERS.entries()) {
    const before = samples.get(title) ?? new Array(SAMPLES_MAX).fill(0);
    samples.set(title, [...before.slice(1), counts[index]!]);
  }
}

/** Five numbers: where invocations are now, and what has failed. Each leads to those that it counts. */
export function Counters({ rows, at, figures }: {
  readonly rows: readonly OpenRow[];
  /** When `rows` was answered. */
  readonly at: number | undefined;
  readonly figures: Figures | undefined;
}) {
  const counts = countsIn(rows);
  sample(counts, at);
  return (
    <ul class="counters" aria-label="Invocations">
      {COUNTERS.map(({ title, status, filter }, index) => (
        <CounterTile
          key={title}
          {...{ title, status, count: counts[index]!, values: samples.get(title) ?? [] }}
          label={`${title} since the UI was opened, ${counts[index]} now`}
          to={filterLink({ status: filter })}
        />
      ))}
      <CounterTile
        {...{ title: "Failed in an hour", status: "failed", count: figures?.failed ?? 0 }}
        values={figures?.failedByTime ?? []}
        label={`Failed in the last hour: ${figures?.failed ?? 0}`}
        to={filterLink({ status: "failed", ended: "<1h", age: "<1d" })}
      />
    </ul>
  );
}

function CounterTile({ title, status, count, values, label, to }: {
  readonly title: string;
  readonly status: Status;
  readonly count: number;
  readonly values: readonly number[];
  readonly label: string;
  readonly to: string;
}) {
  const shown = count.toLocaleString("en");
  return (
    <li>
      <a href={to}>
        <span class={`status ${status}`}>
          <Icon name={status} />
          <span>{title}</span>
        </span>{" "}
        <strong>{shown}</strong>
      </a>
      <Sparkline values={values} label={label} />
    </li>
  );
}
