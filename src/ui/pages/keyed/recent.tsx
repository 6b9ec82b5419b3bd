import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { invocationColumn, progressColumns } from "../../widgets/columns.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { type Keyed, recentOf, type RecentRow, SEARCHED_MAX } from "./statements.ts";

const COLUMNS: readonly Column<RecentRow>[] = [
  { ...invocationColumn(), isHeader: true },
  { id: "handler", title: "Handler", cell: ({ handler }) => <bdi>{handler}</bdi> },
  ...progressColumns<RecentRow>(),
];

/** The newest invocations of a key. `but`: a handler that is left out. */
export function Recent({ keyed, title, but }: {
  readonly keyed: Keyed;
  readonly title: string;
  readonly but?: string;
}) {
  const recent = useQuery<RecentRow>(recentOf(keyed, but), {
    everyMs: EVERY_MS.overview,
    about: { service: keyed.service },
  });
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
