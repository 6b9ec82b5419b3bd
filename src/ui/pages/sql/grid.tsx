import { useState } from "preact/hooks";
import { objectLink } from "../../data/objects.ts";
import { link } from "../../state/router.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { Id } from "../../widgets/id.tsx";
import { Json, LongText } from "../../widgets/json_tree.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { type Result, type Row, textOf } from "./run.ts";

/** Characters of a value that a cell shows. The row's dialog has all of them. */
const CELL_MAX = 120;

interface Numbered {
  readonly at: number;
  readonly row: Row;
}

/** The rows of a result. Enter shows one as a whole. */
export function Grid({ result: { rows, columns } }: { readonly result: Result }) {
  const [opened, open] = useState<Numbered>();
  const list: readonly Column<Numbered>[] = [
    {
      id: "#",
      title: "Row",
      isNumber: true,
      isHeader: true,
      cell: (one) => (
        <button type="button" class="link" tabIndex={-1} onClick={() => open(one)}>
          {one.at + 1}
        </button>
      ),
    },
    ...columns.map((name): Column<Numbered> => ({
      id: `.${name}`,
      title: name,
      isNumber: rows.every((row) => row[name] === undefined || typeof row[name] === "number"),
      cell: ({ row }) => <Cell name={name} row={row} />,
    })),
  ];
  return (
    <>
      <Table
        caption="Rows"
        columns={list}
        rows={rows.map((row, at) => ({ at, row }))}
        idOf={({ at }) => String(at)}
        onOpen={open}
      />
      {opened && (
        <Dialog title={`Row ${opened.at + 1}`} isOpen onClose={() => open(undefined)}>
          <WholeRow row={opened.row} />
        </Dialog>
      )}
    </>
  );
}

function Cell({ name, row }: { readonly name: string; readonly row: Row }) {
  const text = textOf(row[name]);
  if (text === undefined) return <span class="quiet">null</span>;
  const to = linkOf(name, text, row);
  if (/^(inv|dp)_/.test(text) && to !== undefined) return <Id id={text} to={to} />;
  const cut = text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text;
  return to === undefined ? <bdi>{cut}</bdi> : (
    <a href={to}>
      <bdi>{cut}</bdi>
    </a>
  );
}

/** Where a value leads: ids by their form, names by their column. */
function linkOf(name: string, text: string, row: Row): string | undefined {
  if (/^inv_1[0-9A-Za-z]{10,}$/.test(text)) return link("invocations", text);
  if (/^dp_1[0-9A-Za-z]{10,}$/.test(text)) return link("deployments", text);
  if (/(^|_)service_name$/.test(name)) return link("services", text);
  const service = textOf(row["service_name"]);
  if (name === "service_key" && service !== undefined) return objectLink(service, text);
  return undefined;
}

function WholeRow({ row }: { readonly row: Row }) {
  return (
    <dl class="whole-row">
      {Object.entries(row).map(([name, value]) => (
        <div key={name}>
          <dt>
            <bdi>{name}</bdi>
          </dt>
          <dd>
            <Whole name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A value as a tree if it is JSON of some size, else as text. */
function Whole({ name, value }: { readonly name: string; readonly value: unknown }) {
  const text = textOf(value) ?? "";
  return /^[[{]/.test(text) ? <Json text={text} label={name} /> : <LongText text={text} />;
}
