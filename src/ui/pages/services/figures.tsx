import { filterLink } from "../../data/filter_link.ts";
import { durationText } from "../../widgets/duration.ts";
import type { Column } from "../../widgets/table.tsx";
import { type Status, statusOf } from "../../widgets/status.tsx";
import type { Open, Pace } from "./statements.ts";

/** What a row of live figures needs. */
export interface Figures {
  /** By status, how many are open. */
  readonly open: ReadonlyMap<Status, number>;
  readonly pace: Pace | undefined;
}

const MINUTES = 60;
const WAITING: readonly Status[] = ["scheduled", "pending", "ready", "suspended"];

/** What ended with a failure. */
const FAILED: readonly Status[] = ["failed", "canceled", "killed"];

/** Figures by name, of a service or handler. */
export function figuresOf(name: string, open: readonly Open[], paces: readonly Pace[]): Figures {
  const byStatus = new Map<Status, number>();
  for (const one of open.filter((one) => one.name === name)) {
    const status = statusOf(one);
    byStatus.set(status, (byStatus.get(status) ?? 0) + Number(one.n));
  }
  return {
    open: byStatus,
    pace: paces.find((one) => one.name === name),
  };
}

/** Columns of live figures. `filterOf`: the filter that finds a row's invocations. */
export function figureColumns<Row extends Figures>(
  filterOf: (row: Row) => Readonly<Record<string, string>>,
): readonly Column<Row>[] {
  const count = (id: string, title: string, statuses: readonly Status[]): Column<Row> => ({
    ...{ id, title, isNumber: true },
    cell: (row) => {
      const sum = statuses.reduce((total, one) => total + (row.open.get(one) ?? 0), 0);
      if (sum === 0) return 0;
      return <a href={filterLink({ ...filterOf(row), status: statuses })}>{sum}</a>;
    },
  });
  const time = (id: "p50" | "p95"): Column<Row> => ({
    ...{ id, title: id, isNumber: true },
    cell: ({ pace }) => pace ? durationText(pace[id]) : "–",
  });
  return [
    count("running", "Running", ["running"]),
    count("retrying", "Retrying", ["retrying"]),
    count("waiting", "Waiting", WAITING),
    count("paused", "Paused", ["paused"]),
    {
      id: "pace",
      title: "Ended/min",
      isNumber: true,
      cell: ({ pace }) => perMinute(Number(pace?.n ?? 0)),
    },
    time("p50"),
    time("p95"),
    {
      id: "failed",
      title: "Failed 1 h",
      isNumber: true,
      cell: (row) => <FailedCount terms={filterOf(row)} n={Number(row.pace?.failed ?? 0)} />,
    },
  ];
}

function FailedCount({ terms, n }: {
  readonly terms: Readonly<Record<string, string>>;
  readonly n: number;
}) {
  if (n === 0) return <>0</>;
  return <a href={filterLink({ ...terms, status: FAILED, ended: "<1h" })}>{n}</a>;
}

/** The average of the last hour. */
function perMinute(perHour: number): string {
  const pace = perHour / MINUTES;
  return pace === 0 || pace >= 10 ? String(Math.round(pace)) : pace.toFixed(pace < 1 ? 2 : 1);
}
