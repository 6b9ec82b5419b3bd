import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { Failed } from "../../widgets/empty.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { rateText } from "./limit_fields.tsx";
import { type CounterRow, countersStatement, ROWS_MAX } from "./statements.ts";

const nameOf = ({ scope, l1, l2 }: CounterRow) =>
  [scope, l1, l2].filter((part) => part !== undefined).join("/");

const COLUMNS: readonly Column<CounterRow>[] = [
  { id: "name", title: "Counter", isHeader: true, cell: (row) => <bdi>{nameOf(row)}</bdi> },
  {
    id: "used",
    title: "Running",
    isNumber: true,
    cell: ({ usage, concurrency_limit: limit }) =>
      limit === undefined ? `${usage} of any` : `${usage} of ${limit}`,
  },
  {
    id: "rate",
    title: "Starts",
    cell: ({ rate_count: count, rate_period: period, rate_burst: burst, rate_available: left }) =>
      count === undefined || period === undefined
        ? "any"
        : `${rateText({ count, period, burst })}; ${left ?? 0} now`,
  },
  { id: "rule", title: "Rule", cell: ({ rule_pattern: rule }) => <bdi>{rule ?? "none"}</bdi> },
  {
    id: "waiting",
    title: "Queues that wait",
    isNumber: true,
    cell: ({ num_waiters: waiting }) => String(waiting),
  },
];

/** How much of each limit of scopes and limit keys is used. */
export function Counters() {
  const counters = useQuery<CounterRow>(countersStatement(), { everyMs: EVERY_MS.list });
  return (
    <section aria-labelledby="counters">
      <h2 id="counters">Counters</h2>
      {counters.error && <Failed error={counters.error} onRetry={counters.refresh} />}
      {counters.data?.length === 0 && (
        <p class="quiet">Nothing with a scope runs or waits for a limit.</p>
      )}
      {counters.data && counters.data.length > 0 && (
        <Table caption="Counters" columns={COLUMNS} rows={counters.data} idOf={nameOf} />
      )}
      {counters.data?.length === ROWS_MAX && (
        <p class="quiet">These are the {ROWS_MAX} that most wait for.</p>
      )}
    </section>
  );
}
