import { useServices } from "../../data/catalog.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { keyedLinkOf } from "../../data/objects.ts";
import { sql } from "../../data/sql.ts";
import { go, link, place, setQuery } from "../../state/router.ts";
import { Empty, Failed } from "../../widgets/empty.tsx";
import { FilterLine } from "../../widgets/filter_line.tsx";
import { Id } from "../../widgets/id.tsx";
import { Page } from "../../widgets/page.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { sizeText } from "../keyed/size.ts";
import {
  busy,
  type BusyCount,
  FIELDS,
  idOf,
  merged,
  type ObjectRow,
  ROWS_MAX,
  type StateCount,
  withState,
} from "./list.ts";

const OFTEN = { everyMs: EVERY_MS.list };

/** All objects with state, a lock or a queue, and a search in all states. */
export default function Objects() {
  const services = useServices();
  const names = services.data?.services.filter(({ ty }) => ty === "VirtualObject")
    .map(({ name }) => name);
  return (
    <Page title="Objects">
      {services.error && <Failed error={services.error} onRetry={services.refresh} />}
      {names && (names.length === 0
        ? (
          <Empty title="No virtual object is registered.">
            <a href={link("deployments")}>Register a deployment that has one</a>
          </Empty>
        )
        : <Found names={names} />)}
    </Page>
  );
}

function Found({ names }: { readonly names: readonly string[] }) {
  const text = place.value.query.get("filter") ?? "";
  const [states, locks] = [withState(text, names), busy(text, names)];
  const stored = useQuery<StateCount>(states, OFTEN);
  const held = useQuery<BusyCount>(locks ?? sql``, { ...OFTEN, isOn: locks !== undefined });
  const error = stored.error ?? held.error;
  // Both, so that rows do not move when the second answer comes.
  const isRead = stored.data !== undefined && (!locks || held.data !== undefined);
  const rows = merged(stored.data ?? [], locks ? held.data ?? [] : []);
  const read = stored.data?.reduce((sum, { entries }) => sum + Number(entries), 0) ?? 0;
  const fields = FIELDS.map((field) =>
    field.name === "service" ? { ...field, values: names } : field
  );
  return (
    <>
      <FilterLine
        label="Filter objects"
        fields={fields}
        text={text}
        onChange={(filter) => setQuery({ filter })}
      />
      {error && <Failed error={error} onRetry={stored.refresh} />}
      {isRead && (rows.length === 0 ? <Nothing isFiltered={text !== ""} /> : (
        <Table
          caption="Objects"
          columns={COLUMNS}
          rows={rows}
          idOf={idOf}
          onOpen={(row) => go(linkOf(row))}
        />
      ))}
      {read >= ROWS_MAX && (
        <p class="quiet">
          Of the first {ROWS_MAX.toLocaleString("en")}{" "}
          entries of state that match. A filter finds others.
        </p>
      )}
    </>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="No object has state or is in use. Call a handler of one: it is shown then." />
    );
  }
  return (
    <Empty title="No object matches the filter.">
      <button type="button" onClick={() => setQuery({ filter: undefined })}>
        Remove the filter
      </button>
    </Empty>
  );
}

const linkOf = ({ service, key, scope }: ObjectRow) =>
  keyedLinkOf("objects", service, { key, scope });

const COLUMNS: readonly Column<ObjectRow>[] = [
  { id: "service", title: "Service", cell: ({ service }) => <bdi>{service}</bdi> },
  {
    id: "key",
    title: "Key",
    isHeader: true,
    cell: (row) => (
      <a href={linkOf(row)} class="key">
        <bdi>{row.key === "" ? "(empty key)" : row.key}</bdi>
      </a>
    ),
  },
  { id: "scope", title: "Scope", cell: ({ scope }) => <bdi>{scope ?? ""}</bdi> },
  {
    id: "holder",
    title: "Locked by",
    cell: ({ holder }) =>
      holder === undefined ? "" : <Id id={holder} to={link("invocations", holder)} />,
  },
  { id: "waiting", title: "Waiting", isNumber: true, cell: ({ waiting }) => waiting },
  { id: "entries", title: "Entries", isNumber: true, cell: ({ entries }) => entries },
  { id: "bytes", title: "State", isNumber: true, cell: ({ bytes }) => sizeText(bytes) },
];
