import { parseFilter, withTerm } from "../../data/filter.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import type { Sql } from "../../data/sql.ts";
import { type Status, StatusBadge, STATUSES, statusOf } from "../../widgets/status.tsx";
import { FIELD_NAMES } from "./fields.ts";
import { countsOf, endedOf } from "./statements.ts";

/** How many there are of each status. Undefined until it is known. */
function useCounts(
  conditions: readonly Sql[],
  isOn: boolean,
): ReadonlyMap<Status, number> | undefined {
  const use = { everyMs: EVERY_MS.list, isOn };
  const { data: open } = useQuery<{ status: string; n: Int }>(countsOf(conditions), use);
  const { data: ended } = useQuery<{ bucket: Status; n: Int }>(endedOf(conditions), use);
  if (!open || !ended) return undefined;
  return new Map([
    ...open.filter(({ status }) => status !== "completed")
      .map((row) => [statusOf(row), Number(row.n)] as const),
    ...ended.map(({ bucket, n }) => [bucket, Number(n)] as const),
  ]);
}

/** How many there are of each status, whatever status the filter asks for. Each is a filter itself. */
export function Counts({ conditions, text, isOn, onFilter }: {
  readonly conditions: readonly Sql[];
  readonly text: string;
  /** Whether to count now. Counts read every row: the rows that are shown would wait for them. */
  readonly isOn: boolean;
  readonly onFilter: (text: string) => void;
}) {
  const counts = useCounts(conditions, isOn);
  const chosen = parseFilter(text, FIELD_NAMES).find(({ field }) => field === "status")?.values;
  const total = [...counts?.values() ?? []].reduce((sum, n) => sum + n, 0);
  const choose = (values: readonly string[]) =>
    onFilter(withTerm(text, { field: "status", values, fields: FIELD_NAMES }));
  const there = STATUSES.filter((status) => counts?.has(status) || chosen?.includes(status));
  return (
    <div class="counts" role="group" aria-label="Status">
      <button type="button" aria-pressed={!chosen} onClick={() => choose([])}>
        all {counts ? total.toLocaleString() : ""}
      </button>
      {there.map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={chosen?.includes(status) ?? false}
          onClick={() => choose(chosen?.includes(status) ? [] : [status])}
        >
          <StatusBadge status={status} more={(counts?.get(status) ?? 0).toLocaleString()} />
        </button>
      ))}
    </div>
  );
}
