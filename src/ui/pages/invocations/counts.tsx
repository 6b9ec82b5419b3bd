import { parseFilter, withTerm } from "../../data/filter.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import type { Sql } from "../../data/sql.ts";
import { type Status, StatusBadge, STATUSES } from "../../widgets/status.tsx";
import { FIELD_NAMES } from "./fields.ts";
import { countsOf } from "./statements.ts";

/** How many there are of each status, whatever status the filter asks for. Each is a filter itself. */
export function Counts({ conditions, text, onFilter }: {
  readonly conditions: readonly Sql[];
  readonly text: string;
  readonly onFilter: (text: string) => void;
}) {
  const { data } = useQuery<{ bucket: Status; n: Int }>(countsOf(conditions), {
    everyMs: EVERY_MS.list,
  });
  const chosen = parseFilter(text, FIELD_NAMES).find(({ field }) => field === "status")?.values;
  const counts = new Map(data?.map(({ bucket, n }) => [bucket, Number(n)]));
  const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
  const choose = (values: readonly string[]) =>
    onFilter(withTerm(text, { field: "status", values, fields: FIELD_NAMES }));
  const there = STATUSES.filter((status) => counts.has(status) || chosen?.includes(status));
  return (
    <div class="counts" role="group" aria-label="Status">
      <button type="button" aria-pressed={!chosen} onClick={() => choose([])}>
        all {data ? total.toLocaleString() : ""}
      </button>
      {there.map((status) => (
        <button
          key={status}
          type="button"
          aria-pressed={chosen?.includes(status) ?? false}
          onClick={() => choose(chosen?.includes(status) ? [] : [status])}
        >
          <StatusBadge status={status} more={(counts.get(status) ?? 0).toLocaleString()} />
        </button>
      ))}
    </div>
  );
}
