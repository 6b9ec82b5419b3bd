import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useKeys } from "../state/keys.ts";
import { type Cursor, useCursor } from "./cursor.ts";
import { useWindow } from "./window.ts";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** The name of the row, for those who hear the table. One column has it. */
  readonly isHeader?: boolean;
  /** Sorted by this column, and how. */
  readonly sort?: "ascending" | "descending" | undefined;
}

export interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** Enter and a double click. */
  readonly onOpen?: (row: Row) => void;
  /** Space. Undefined when the row that was shown is shown again. */
  readonly onPeek?: (row: Row) => void;
  /** The ids that are selected. Absent: nothing can be. */
  readonly selected?: ReadonlySet<string>;
  readonly onSelect?: (ids: ReadonlySet<string>) => void;
  /** Called when the last rows are in view. */
  readonly onEnd?: () => void;
}

/**
 * A table of any length: only the rows in view are in the document. `j` and `k` move, Enter opens,
 * `x` selects, `shift+x` selects a range.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, onEnd, selected } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, rowPx } = useWindow(body, rows.length);
  const cursor = useCursor(rows.length);
  useTableKeys(props, cursor);
  useEffect(() => {
    if (to >= rows.length) onEnd?.();
  }, [to, rows.length]);
  const width = columns.length + (selected ? 1 : 0);
  return (
    <div class="scroll">
      <table class="rows" aria-rowcount={rows.length + 1}>
        <caption class="hidden">{caption}</caption>
        <Head {...props} />
        <tbody ref={body}>
          <Space rows={from} rowPx={rowPx} width={width} />
          {rows.slice(from, to).map((row, offset) => (
            <BodyRow
              key={props.idOf(row)}
              {...props}
              row={row}
              at={from + offset}
              cursor={cursor}
            />
          ))}
          <Space rows={rows.length - to} rowPx={rowPx} width={width} />
        </tbody>
      </table>
    </div>
  );
}

function useTableKeys<Row>(props: TableProps<Row>, cursor: Cursor): void {
  const { rows, idOf, onOpen, onPeek } = props;
  const current = rows[cursor.at];
  const select = (isRange: boolean) => {
    if (!props.selected || !current) return;
    const [from, to] = isRange ? [cursor.anchor, cursor.at].toSorted((a, b) => a - b) : [];
    const range = isRange ? rows.slice(from, to! + 1) : [current];
    props.onSelect?.(toggled(props.selected, range.map(idOf), isRange));
    if (!isRange) cursor.mark();
  };
  useKeys("Table", {
    "j": { label: "Next row", run: () => cursor.move(1) },
    "k": { label: "Row before", run: () => cursor.move(-1) },
    ...(onOpen && { "Enter": { label: "Open", run: () => current && onOpen(current) } }),
    ...(onPeek && { "space": { label: "Peek", run: () => current && onPeek(current) } }),
    ...(props.selected && {
      "x": { label: "Select", run: () => select(false) },
      "shift+x": { label: "Select up to here", run: () => select(true) },
    }),
  });
}

/** The selection with ids added, or taken out if one alone was in it. */
function toggled(selected: ReadonlySet<string>, ids: readonly string[], isRange: boolean) {
  const next = new Set(selected);
  for (const id of ids) {
    if (!isRange && next.has(id)) next.delete(id);
    else next.add(id);
  }
  return next;
}

function Head<Row>({ columns, rows, idOf, selected, onSelect }: TableProps<Row>) {
  const isAll = selected !== undefined && rows.length > 0 &&
    rows.every((row) => selected.has(idOf(row)));
  return (
    <thead>
      <tr>
        {selected && (
          <th scope="col" class="check">
            <input
              type="checkbox"
              aria-label="Select all that are loaded"
              checked={isAll}
              onChange={() => onSelect?.(new Set(isAll ? [] : rows.map(idOf)))}
            />
          </th>
        )}
        {columns.map(({ id, title, isNumber, sort }) => (
          <th key={id} scope="col" aria-sort={sort} class={isNumber ? "number" : undefined}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface RowProps<Row> extends TableProps<Row> {
  readonly row: Row;
  readonly at: number;
  readonly cursor: Cursor;
}

function BodyRow<Row>(
  { row, at, cursor, columns, idOf, onOpen, selected, onSelect }: RowProps<Row>,
) {
  const element = useRef<HTMLTableRowElement>(null);
  const [id, isCurrent] = [idOf(row), cursor.at === at];
  useEffect(() => {
    if (isCurrent && cursor.hasMoved) focusFor(element.current);
  }, [isCurrent]);
  return (
    <tr
      ref={element}
      aria-rowindex={at + 2}
      aria-selected={selected ? selected.has(id) : undefined}
      class={selected?.has(id) ? "selected" : undefined}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => isFocusing || cursor.set(at)}
      onKeyDown={(event) => arrow(event, cursor)}
      onDblClick={() => onOpen?.(row)}
    >
      {selected && (
        <td class="check">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${id}`}
            checked={selected.has(id)}
            onChange={() => onSelect?.(toggled(selected, [id], false))}
          />
        </td>
      )}
      {columns.map(({ id: column, cell, isNumber, isHeader }) =>
        isHeader
          ? <th key={column} scope="row">{cell(row)}</th>
          : <td key={column} class={isNumber ? "number" : undefined}>{cell(row)}</td>
      )}
    </tr>
  );
}

/** Whether the focus follows the cursor now. Else the cursor follows the focus, and never both ways. */
let isFocusing = false;

function focusFor(row: HTMLElement | null): void {
  isFocusing = true;
  row?.focus();
  isFocusing = false;
}

function arrow(event: TargetedKeyboardEvent<HTMLTableRowElement>, cursor: Cursor): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  cursor.move(step);
}

/** The height of rows that are not in the document. */
function Space({ rows, rowPx, width }: {
  readonly rows: number;
  readonly rowPx: number;
  readonly width: number;
}) {
  if (rows === 0) return null;
  return (
    <tr aria-hidden="true" class="space">
      <td colSpan={width} style={{ height: rows * rowPx }} />
    </tr>
  );
}
