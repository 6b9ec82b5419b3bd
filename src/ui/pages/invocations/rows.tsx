import { useMemo } from "preact/hooks";
import type { Invocation } from "../../data/invocations.ts";
import type { Pages } from "../../data/pages.ts";
import { type Sql, sql, where } from "../../data/sql.ts";
import { go, link } from "../../state/router.ts";
import { Empty } from "../../widgets/empty.tsx";
import { Drops } from "../../widgets/drops.tsx";
import { Table } from "../../widgets/table.tsx";
import { columnsOf } from "./columns.tsx";
import { compileFilter, FIELD_NAMES } from "./fields.ts";
import { useRowCommands } from "./row_commands.tsx";
import type { Order } from "./statements.ts";
import { hiddenColumns } from "./views.tsx";

const MINUTE_MS = 60_000;

/** The columns that people have chosen. The same at each render, so that rows are not drawn anew. */
function useColumns(order: Order) {
  const hidden = hiddenColumns();
  return useMemo(() => columnsOf(order, hidden), [order, hidden]);
}

/** Some invocation that a filter finds. */
function foundBy(text: string): Sql {
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const { conditions } = compileFilter(text, now);
  return sql`SELECT id FROM sys_invocation ${where(conditions)} LIMIT 1`;
}

/** The list, or why it is empty. A row has its commands while the pointer is on it, and by their keys. */
export function Rows({ pages, order, text, selected, onFilter, onSelect, onPeek }: {
  readonly pages: Pages<Invocation>;
  readonly order: Order;
  readonly text: string;
  readonly selected: ReadonlySet<string>;
  readonly onFilter: (text: string) => void;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
  readonly onPeek: (id: string) => void;
}) {
  const columns = useColumns(order);
  const { keysOf, actionsOf, question } = useRowCommands(pages.refresh);
  if (!pages.rows) return <p class="loading" role="status">{pages.error ? "" : "Loading…"}</p>;
  if (pages.rows.length === 0) {
    return (
      <Empty
        title={text === "" ? "There are no invocations yet." : "No invocation matches the filter."}
      >
        {text !== "" && <Drops {...{ text, onFilter, foundBy }} names={FIELD_NAMES} />}
      </Empty>
    );
  }
  return (
    <>
      <Table
        caption="Invocations"
        columns={columns}
        rows={pages.rows}
        idOf={({ id }) => id}
        onOpen={({ id }) => go(link("invocations", id))}
        onPeek={({ id }) => onPeek(id)}
        onEnd={pages.more}
        selected={selected}
        onSelect={onSelect}
        actionsOf={actionsOf}
        keysOf={selected.size === 0 ? keysOf : undefined}
      />
      {question}
    </>
  );
}
