import { useEffect, useState } from "preact/hooks";
import { Table, type TableProps } from "./table.tsx";

/** Rows in an order that was shown before. Those that it does not have are left out. */
export function inOrder<Row>(
  order: readonly string[],
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Row[] {
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  return order.flatMap((id) => byId.get(id) ?? []);
}

/** Rows that stay in their places, and what another order of them would have. */
export interface Steady<Row> {
  readonly rows: readonly Row[];
  /** How many more there are. */
  readonly newCount: number;
  /** Whether they were sorted otherwise now. */
  readonly isMoved: boolean;
  /** Shows all of them, in the order of now. */
  readonly showNew: () => void;
}

/**
 * Keeps the order of rows while somebody looks at them: nothing moves under the pointer. New ones
 * wait until they are asked for, what is gone is left out. `key`: of the list; another one begins
 * anew. Undefined while the rows are still those of the list before.
 */
export function useSteady<Row>(
  key: string | undefined,
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Steady<Row> {
  const [shown, show] = useState<{ key?: string | undefined; order: readonly string[] }>({
    order: [],
  });
  const kept = key !== undefined && shown.key === key ? inOrder(shown.order, rows, idOf) : [];
  // Where there was nothing, nothing moves.
  const steady = kept.length === 0 ? rows : kept;
  const order = steady.map(idOf);
  useEffect(() => {
    const isSame = shown.key === key && shown.order.length === order.length;
    if (!isSame && key !== undefined) show({ key, order });
  });
  const known = new Set(order);
  const sorted = rows.map(idOf).filter((id) => known.has(id));
  return {
    rows: steady,
    newCount: rows.length - steady.length,
    isMoved: sorted.some((id, at) => id !== order[at]),
    showNew: () => show({ key, order: rows.map(idOf) }),
  };
}

/** A table whose rows stay in their places. A button says that there are others, or another order. */
export function SteadyTable<Row>({ steady, ...table }:
  & Omit<TableProps<Row>, "rows">
  & { readonly steady: Steady<Row> }) {
  const { rows, newCount, isMoved, showNew } = steady;
  return (
    <>
      <div class="pill" role="status">
        {(newCount > 0 || isMoved) && (
          <button type="button" class="primary" onClick={showNew}>
            {newCount > 0 ? `${newCount} new` : "Sort again"}
          </button>
        )}
      </div>
      <Table {...table} rows={rows} />
    </>
  );
}
