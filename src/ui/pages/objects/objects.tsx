import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { keyedLinkOf } from "../../data/objects.ts";
import { sql } from "../../data/sql.ts";
import { go, link } from "../../state/router.ts";
import { FailedReads } from "../../widgets/empty.tsx";
import { Id } from "../../widgets/id.tsx";
import { SteadyTable, useSteady } from "../../widgets/steady.tsx";
import type { Column } from "../../widgets/table.tsx";
import {
  filterText,
  keyedColumns,
  KeyedFilter,
  KeyedListPage,
  Nothing,
} from "../keyed/list_page.tsx";
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
  return (
    <KeyedListPage title="Objects" ty="VirtualObject" kind="virtual object">
      {(services) => <Found names={services.map(({ name }) => name)} />}
    </KeyedListPage>
  );
}

const UNUSED = "No object has state or is in use. Call a handler of one: it is shown then.";

function Found({ names }: { readonly names: readonly string[] }) {
  const text = filterText();
  const [states, locks] = [withState(text, names), busy(text, names)];
  const stored = useQuery<StateCount>(states, OFTEN);
  const held = useQuery<BusyCount>(locks ?? sql``, { ...OFTEN, isOn: locks !== undefined });
  // Both, so that rows do not move when the second answer comes.
  const isRead = stored.data !== undefined && (!locks || held.data !== undefined);
  const found = merged(stored.data ?? [], locks ? held.data ?? [] : []);
  const isOfText = stored.at !== undefined && (!locks || held.at !== undefined);
  const steady = useSteady(isOfText ? text : undefined, found, idOf);
  const read = stored.data?.reduce((sum, { entries }) => sum + Number(entries), 0) ?? 0;
  return (
    <>
      <KeyedFilter label="Filter objects" fields={FIELDS} names={names} />
      <FailedReads reads={[stored, held]} />
      {isRead && (found.length === 0
        ? (
          <Nothing
            {...{ kind: "object", unused: UNUSED, fields: FIELDS }}
            foundBy={(rest) => withState(rest, names)}
          />
        )
        : (
          <SteadyTable
            caption="Objects"
            columns={COLUMNS}
            steady={steady}
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

const linkOf = ({ service, key, scope }: ObjectRow) =>
  keyedLinkOf("objects", service, { key, scope });

const COLUMNS: readonly Column<ObjectRow>[] = [
  ...keyedColumns({ service: "Service", key: "Key" }, linkOf),
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
