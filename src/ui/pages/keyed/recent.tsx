import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { link } from "../../state/router.ts";
import { durationText } from "../../widgets/duration.ts";
import { Failed } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { StatusBadge, statusOf } from "../../widgets/status.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import { type Keyed, recentOf, type RecentRow, SEARCHED_MAX } from "./statements.ts";

const COLUMNS: readonly Column<RecentRow>[] = [
  {
    id: "id",
    title: "Invocation",
    isHeader: true,
    cell: ({ id }) => <Id id={id} to={link("invocations", id)} />,
  },
  { id: "handler", title: "Handler", cell: ({ handler }) => <bdi>{handler}</bdi> },
  { id: "status", title: "Status", cell: (row) => <StatusBadge status={statusOf(row)} /> },
  { id: "created", title: "Accepted", cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    id: "took",
    title: "Took",
    isNumber: true,
    cell: ({ created_at: from, completed_at: to }) =>
      to === undefined ? "–" : durationText(Date.parse(to) - Date.parse(from)),
  },
];

/** The newest invocations of a key. `but`: a handler that is left out. */
export function Recent({ keyed, title, but }: {
  readonly keyed: Keyed;
  readonly title: string;
  readonly but?: string;
}) {
  const recent = useQuery<RecentRow>(recentOf(keyed, but), { everyMs: EVERY_MS.overview });
  return (
    <section aria-labelledby="recent">
      <h2 id="recent">{title}</h2>
      {recent.error && <Failed error={recent.error} onRetry={recent.refresh} />}
      {recent.data && (recent.data.length === 0
        ? <p class="quiet">None is stored.</p>
        : <Table caption={title} columns={COLUMNS} rows={recent.data} idOf={({ id }) => id} />)}
      <p class="quiet">
        Of the newest {SEARCHED_MAX.toLocaleString("en")} invocations of all services.
      </p>
    </section>
  );
}
