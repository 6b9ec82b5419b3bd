import { addressOf, type Deployment, type Service, TYPES } from "../../data/catalog.ts";
import { filterLink } from "../../data/filter_link.ts";
import { link } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Sparkline } from "../../widgets/sparkline.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import type { Figures, History } from "./figures.ts";
import { type OpenRow, WAITING } from "./statements.ts";

interface Row {
  readonly service: Service;
  readonly figures: Figures | undefined;
  /** Open invocations by their status of SQL. */
  readonly open: ReadonlyMap<string, number>;
  readonly deployment: string;
}

/** A bound of durations, for people. */
export function boundText(ms: number | undefined): string {
  if (ms === undefined) return "–";
  return Number.isFinite(ms) ? `< ${durationText(ms)}` : "> 6 h";
}

/** Per minute, with as many digits as say something. */
export function perMinuteText(value: number): string {
  const digits = value < 1 ? 2 : value < 10 ? 1 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

const openOf = ({ open }: Row, statuses: readonly string[]) =>
  statuses.reduce((sum, status) => sum + (open.get(status) ?? 0), 0);

/** A number that leads to what it counts. */
function count(row: Row, title: string, { statuses, terms = statuses }: {
  readonly statuses: readonly string[];
  readonly terms?: readonly string[];
}): Column<Row>["cell"] extends (row: Row) => infer Cell ? Cell : never {
  const n = openOf(row, statuses);
  const { name } = row.service;
  if (n === 0) return <span class="quiet">0</span>;
  return (
    <a href={filterLink({ service: name, status: terms })} aria-label={`${n} ${title} of ${name}`}>
      {n.toLocaleString("en")}
    </a>
  );
}

const OPEN_COLUMNS: readonly Column<Row>[] = [
  {
    id: "running",
    title: "Running",
    isNumber: true,
    cell: (row) => count(row, "running", { statuses: ["running"] }),
  },
  {
    id: "retrying",
    title: "Retrying",
    isNumber: true,
    cell: (row) => count(row, "retrying", { statuses: ["backing-off"], terms: ["retrying"] }),
  },
  {
    id: "waiting",
    title: "Waiting",
    isNumber: true,
    cell: (row) => count(row, "waiting", { statuses: WAITING }),
  },
  {
    id: "paused",
    title: "Paused",
    isNumber: true,
    cell: (row) => count(row, "paused", { statuses: ["paused"] }),
  },
];

const DONE_COLUMNS: readonly Column<Row>[] = [
  {
    id: "done",
    title: "Done per minute",
    cell: ({ figures, service: { name } }) =>
      figures && (
        <>
          <Sparkline
            values={figures.doneByTime}
            label={`${name}: ${figures.done} completed in the last hour`}
          />{" "}
          {perMinuteText(figures.donePerMinute)}
        </>
      ),
  },
  { id: "p50", title: "p50", isNumber: true, cell: ({ figures }) => boundText(figures?.p50) },
  { id: "p95", title: "p95", isNumber: true, cell: ({ figures }) => boundText(figures?.p95) },
  {
    id: "failed",
    title: "Failed in an hour",
    isNumber: true,
    cell: ({ figures, service: { name } }) =>
      !figures?.failed ? <span class="quiet">0</span> : (
        <a
          href={filterLink({ service: name, status: "failed", ended: "<1h", age: "<1d" })}
          aria-label={`${figures.failed} failed of ${name}`}
        >
          {figures.failed}
        </a>
      ),
  },
];

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    title: "Service",
    isHeader: true,
    cell: ({ service: { name } }) => (
      <a href={link("services", name)}>
        <bdi>{name}</bdi>
      </a>
    ),
  },
  { id: "ty", title: "Type", cell: ({ service }) => TYPES[service.ty] ?? service.ty },
  ...OPEN_COLUMNS,
  ...DONE_COLUMNS,
  {
    id: "deployment",
    title: "Deployment",
    cell: ({ service: { deployment_id: id, revision }, deployment }) => (
      <a href={link("deployments", id)}>{`${deployment} revision ${revision}`}</a>
    ),
  },
];

/** All services, what is open of each, and what they did in the last hour. */
export function Services({ all, deployments, rows, history }: {
  readonly all: readonly Service[];
  readonly deployments: readonly Deployment[];
  readonly rows: readonly OpenRow[];
  readonly history: History | undefined;
}) {
  const byService = Map.groupBy(rows.filter(({ cause }) => cause === "open"), (row) => row.service);
  const shown = all.toSorted((a, b) => a.name.localeCompare(b.name)).map((service): Row => {
    const deployment = deployments.find((one) => one.id === service.deployment_id);
    return {
      service,
      figures: history?.byService.get(service.name),
      open: countsOf(byService.get(service.name) ?? []),
      deployment: deployment ? addressOf(deployment) : service.deployment_id,
    };
  });
  return (
    <section aria-labelledby="services">
      <h2 id="services">Services</h2>
      <Table
        caption="Services"
        columns={COLUMNS}
        rows={shown}
        idOf={({ service }) => service.name}
      />
    </section>
  );
}

function countsOf(rows: readonly OpenRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status = "", n = 0 } of rows) {
    counts.set(status, (counts.get(status) ?? 0) + Number(n));
  }
  return counts;
}
