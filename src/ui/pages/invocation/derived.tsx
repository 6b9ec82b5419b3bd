import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { objectLink } from "../../data/objects.ts";
import { abilities } from "../../data/server.ts";
import { type Sql, sql } from "../../data/sql.ts";
import { link } from "../../state/router.ts";
import { Id } from "../../widgets/id.tsx";
import { LongText } from "../../widgets/json_tree.tsx";
import { failureIn, stepsIn, useEvents, useKnownJournal, type Whole } from "./data.ts";

interface Props {
  readonly row: Whole;
}

/** What it waits for, where the server has no sentence for it: from its lock, its journal, its events. */
export function Derived({ row }: Props) {
  if (abilities().hasWaitingColumns) return null;
  const isOfObject = row.target_service_ty === "virtual_object";
  if (row.status === "pending" && isOfObject) return <Lock row={row} />;
  if (row.status === "suspended") return <Awaited row={row} />;
  return row.status === "paused" ? <PausedBy row={row} /> : null;
}

/** Steps that are named. */
const AWAITED_MAX = 5;

/** The place in the queue of its object, and who holds the lock. */
function lockOf({ id, target_service_name: service, target_service_key: key = "" }: Whole): Sql {
  const ofKey = sql`service_name = ${service} AND service_key = ${key}`;
  return sql`SELECT max(k.invocation_id) AS holder, count(*) AS place
    FROM sys_inbox q LEFT JOIN sys_keyed_service_status k
      ON k.service_name = q.service_name AND k.service_key = q.service_key
    WHERE q.service_name = ${service} AND q.service_key = ${key} AND q.sequence_number <=
      (SELECT max(sequence_number) FROM sys_inbox WHERE ${ofKey} AND id = ${id})`;
}

function Lock({ row }: Props) {
  const { target_service_name: service, target_service_key: key = "" } = row;
  const { data } = useQuery<{ holder?: string; place: number }>(lockOf(row), {
    everyMs: EVERY_MS.list,
  });
  const { holder, place = 0 } = data?.[0] ?? {};
  if (!data || Number(place) === 0) return null;
  return (
    <span>
      {"for the lock of "}
      <a href={objectLink(service, key)}>
        <LongText text={`${service}/${key}`} />
      </a>
      {holder !== undefined && (
        <>
          , which <Id id={holder} to={link("invocations", holder)} isBare /> holds
        </>
      )}
      , place {place} of its queue
    </span>
  );
}

function Awaited({ row }: Props) {
  const { data } = useKnownJournal(row.id, EVERY_MS.invocation);
  const codes = (data ? stepsIn(data) : []).filter(({ result }) => result === "pending")
    .map(({ code }) => code);
  if (codes.length === 0) return null;
  const more = codes.length > AWAITED_MAX ? `; and ${codes.length - AWAITED_MAX} more` : "";
  return <LongText text={codes.slice(0, AWAITED_MAX).join("; ") + more} />;
}

function PausedBy({ row }: Props) {
  const { data = [] } = useEvents(row.id, EVERY_MS.list);
  const event = data.find(({ event_type: type }) => type === "Paused");
  const { error_message: text } = event ? failureIn(event) : {};
  if (text === undefined) return null;
  return (
    <span class="failure">
      <LongText text={text} />
    </span>
  );
}
