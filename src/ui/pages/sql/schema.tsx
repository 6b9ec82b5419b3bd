import { useEffect, useState } from "preact/hooks";
import { type Used, useQuery } from "../../data/hooks.ts";
import { sql } from "../../data/sql.ts";
import type { Column, Tables } from "./completion.ts";

interface ColumnRow {
  readonly table_name: string;
  readonly column_name: string;
  readonly data_type: string;
}

const COLUMNS = sql`
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`;

/** So many tables that were found are shown with their columns. */
const SHOWN_MAX = 4;

/** The tables of the server with their columns. */
export function useTables(): { readonly tables: Tables; readonly used: Used<ColumnRow[]> } {
  const used = useQuery<ColumnRow>(COLUMNS);
  const tables = new Map<string, Column[]>();
  for (const { table_name: table, column_name: name, data_type: type } of used.data ?? []) {
    const columns = tables.get(table);
    if (columns) columns.push({ name, type });
    else tables.set(table, [{ name, type }]);
  }
  return { tables, used };
}

/** Tables and columns. A click writes the name into the statement. */
export function Schema({ tables, onTake }: {
  readonly tables: Tables;
  readonly onTake: (name: string) => void;
}) {
  const [typed, type] = useState("");
  const text = typed.trim().toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(text);
  const found = [...tables].flatMap(([table, columns]) => {
    const matching = has(table) ? columns : columns.filter(({ name }) => has(name));
    return matching.length > 0 ? [{ table, columns: matching }] : [];
  });
  return (
    <section class="schema" aria-label="Tables">
      <input
        type="search"
        class="wide"
        aria-label="Find a table or column"
        placeholder="Find a table or column"
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      {found.map(({ table, columns }) => (
        <OneTable
          key={table}
          {...{ table, columns, onTake }}
          isShown={text !== "" && found.length <= SHOWN_MAX}
        />
      ))}
      {tables.size > 0 && found.length === 0 && <p>None has this in its name.</p>}
    </section>
  );
}

/** A table. Its columns are in the document only while they are shown. */
function OneTable({ table, columns, isShown, onTake }: {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly isShown: boolean;
  readonly onTake: (name: string) => void;
}) {
  const [isOpen, setOpen] = useState(isShown);
  useEffect(() => setOpen(isShown), [isShown]);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>{table}</code>
      </summary>
      {isOpen && <Take name={table} about="table" onTake={onTake} />}
      {isOpen &&
        columns.map(({ name, type: about }) => <Take key={name} {...{ name, about, onTake }} />)}
    </details>
  );
}

function Take({ name, about, onTake }: {
  readonly name: string;
  readonly about: string;
  readonly onTake: (name: string) => void;
}) {
  return (
    <div class="take">
      <button type="button" class="link" title="Write it" onClick={() => onTake(name)}>
        {name}
      </button>
      <small>{about}</small>
    </div>
  );
}
