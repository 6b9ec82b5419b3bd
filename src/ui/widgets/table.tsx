import type { ComponentChildren, RefObject, TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Keys, useKeys } from "../state/keys.ts";
import { type Cursor, useCursor } from "./cursor.ts";
import { useNear } from "./near.ts";
import { useWindow } from "./window.ts";

export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** The name of the row, for those who hear the table. One column has it. */
  readonly isHeader?: boolean;
  /**
   * Width in rem. If all columns have one (the last takes the rest), the browser need not measure every
   * row: for tables that are long.
   */
  readonly rem?: number;
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
  /** Buttons of a row, shown while the pointer is on it. What they do has keys or a page as well. */
  readonly actionsOf?: (row: Row) => ComponentChildren;
  /** Keys for the row that the keyboard is at. */
  readonly keysOf?: ((row: Row) => Keys) | undefined;
}

/**
 * A table of any length: only the rows in view are in the document. `j` and `k` move, Enter opens,
 * `x` selects, `shift+x` selects a range.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, onEnd, selected, idOf } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, rowPx } = useWindow(body, rows.length);
  const cursor = useCursor(rows.length);
  const act = useActs(props, cursor);
  useTableKeys(props, cursor, body);
  useEffect(() => {
    if (to >= rows.length) onEnd?.();
  }, [to, rows.length]);
  const width = columns.length + (selected ? 1 : 0);
  return (
    <div class="scroll">
      <table class="rows" aria-rowcount={rows.length + 1} style={fixed(columns)}>
        <caption class="hidden">{caption}</caption>
        <Widths {...props} />
        <Head {...props} />
        <tbody ref={body}>
          <Space rows={from} rowPx={rowPx} width={width} />
          {rows.slice(from, to).map((row, offset) => (
            <BodyRow
              key={idOf(row)}
              {...{ row, columns, act }}
              actionsOf={props.actionsOf}
              id={idOf(row)}
              at={from + offset}
              isCurrent={cursor.at === from + offset}
              hasMoved={cursor.hasMoved}
              isSelected={selected?.has(idOf(row))}
            />
          ))}
          <Space rows={rows.length - to} rowPx={rowPx} width={width} />
        </tbody>
      </table>
    </div>
  );
}

/** The check boxes are as wide as `.check` in `css/table.css`. */
const CHECK_PX = 32;

function fixed<Row>(columns: readonly Column<Row>[]) {
  if (!columns.every(({ rem }) => rem !== undefined)) return undefined;
  const rem = columns.reduce((sum, column) => sum + (column.rem ?? 0), 0);
  return { tableLayout: "fixed", minWidth: `calc(${rem}rem + ${CHECK_PX}px)` } as const;
}

function Widths<Row>({ columns, selected }: TableProps<Row>) {
  if (!fixed(columns)) return null;
  return (
    <colgroup>
      {selected && <col style={{ width: `${CHECK_PX}px` }} />}
      {columns.map(({ id, rem }, at) => (
        <col key={id} style={at === columns.length - 1 ? undefined : { width: `${rem}rem` }} />
      ))}
    </colgroup>
  );
}

function useTableKeys<Row>(
  props: TableProps<Row>,
  cursor: Cursor,
  body: RefObject<HTMLElement | null>,
): void {
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
    ...(current && cursor.hasMoved && props.keysOf?.(current)),
  }, body);
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

interface RowProps<Row> {
  readonly row: Row;
  readonly id: string;
  readonly at: number;
  readonly columns: readonly Column<Row>[];
  /** Whether the keyboard is here, and has been moved. */
  readonly isCurrent: boolean;
  readonly hasMoved: boolean;
  /** Absent: nothing can be selected. */
  readonly isSelected: boolean | undefined;
  /** The same at every render, so that rows that stay as they are cost nothing while one scrolls. */
  readonly act: RowActs<Row>;
  readonly actionsOf: TableProps<Row>["actionsOf"];
}

interface RowActs<Row> {
  readonly focus: (at: number) => void;
  readonly move: (by: number) => void;
  readonly open: (row: Row) => void;
  readonly toggle: (id: string) => void;
}

function useActs<Row>(props: TableProps<Row>, cursor: Cursor): RowActs<Row> {
  const latest = useRef({ props, cursor });
  latest.current = { props, cursor };
  return useMemo(() => ({
    focus: (at) => latest.current.cursor.set(at),
    move: (by) => latest.current.cursor.move(by),
    open: (row) => latest.current.props.onOpen?.(row),
    toggle: (id) => {
      const { selected, onSelect } = latest.current.props;
      onSelect?.(toggled(selected ?? new Set(), [id], false));
    },
  }), []);
}

function BodyRow<Row>(
  { row, id, at, columns, isCurrent, hasMoved, isSelected, act, actionsOf }: RowProps<Row>,
) {
  const element = useRef<HTMLTableRowElement>(null);
  const [isNear, onNear] = useNear(element);
  useEffect(() => {
    if (isCurrent && hasMoved) focusFor(element.current);
  }, [isCurrent, hasMoved]);
  return useMemo(() => (
    <tr
      ref={element}
      aria-rowindex={at + 2}
      aria-selected={isSelected}
      class={isSelected ? "selected" : undefined}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={() => isFocusing || act.focus(at)}
      onKeyDown={(event) => arrow(event, act)}
      onDblClick={() => act.open(row)}
      {...actionsOf && onNear}
    >
      {isSelected !== undefined && <Check id={id} isOn={isSelected} onToggle={act.toggle} />}
      {columns.map((column, place) => (
        <Cell key={column.id} column={column} row={row}>
          {isNear && place === columns.length - 1 && (
            <span class="row-actions">{actionsOf?.(row)}</span>
          )}
        </Cell>
      ))}
    </tr>
  ), [row, at, columns, isCurrent, isSelected, isNear]);
}

function Check({ id, isOn, onToggle }: {
  readonly id: string;
  readonly isOn: boolean;
  readonly onToggle: (id: string) => void;
}) {
  return (
    <td class="check">
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${id}`}
        checked={isOn}
        onChange={() => onToggle(id)}
      />
    </td>
  );
}

function Cell<Row>({ column: { cell, isNumber, isHeader }, row, children }: {
  readonly column: Column<Row>;
  readonly row: Row;
  /** Behind what the column shows. */
  readonly children: ComponentChildren;
}) {
  const place = isNumber ? "number" : undefined;
  if (isHeader) return <th scope="row" class={place}>{cell(row)}{children}</th>;
  return <td class={place}>{cell(row)}{children}</td>;
}

/** Whether the focus follows the cursor now. Else the cursor follows the focus, and never both ways. */
let isFocusing = false;

function focusFor(row: HTMLElement | null): void {
  isFocusing = true;
  row?.focus();
  isFocusing = false;
}

function arrow<Row>(event: TargetedKeyboardEvent<HTMLTableRowElement>, act: RowActs<Row>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  act.move(step);
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
      <td colSpan={width} style={{ height: `${rows * rowPx}px` }} />
    </tr>
  );
}
