import { CANCEL_SIGNAL } from "../../model/journal.ts";
import { awakeableId, awakeableTables } from "./awakeable_id.ts";
import { objectOfInvocation } from "./object_name.ts";
import { type Awaited, isoTime, object } from "./wait_facts.ts";

// `t` is a stored invocation that is suspended.

/** Notifications that are said one by one, of those that it waits for. */
const SHOWN_MAX = 20;

const AWAITING = "(t.body ->> '$.status.awaiting')";

/** The leaves of the tree: `kind` is the list that one is in. A cancellation can always come. */
const LEAVES = `select n.key as kind, e.value as value
  from json_tree(iif(json_valid(${AWAITING}), ${AWAITING}, '{}')) as n, json_each(n.value) as e
  where n.key in ('completions', 'signals', 'names') and n.type = 'array'
  and not (n.key = 'signals' and e.value = ${CANCEL_SIGNAL})`;

const itemOf = (kind: Awaited, values: Readonly<Record<string, string>>) =>
  object({ kind: `'${kind}'`, ...values });

const SLEEP = `(select ${itemOf("sleep", { until: isoTime("s.due") })} from timer as s
  where s.id = t.id and s.kind = 'sleep' and s.idx = w.value)`;

/** Whether the invocation is among callers or listeners, with this completion. */
const isIn = (list: string) =>
  `exists (select 1 from json_each(${list}) as c
  where c.value ->> '$.id' = t.id and c.value ->> '$.completion' = w.value)`;

const PROMISE = `(select ${itemOf("promise", { name: "p.name" })} from promise as p
  where p.object = ${objectOfInvocation} and ${isIn("p.body -> '$.listeners'")})`;

/** Callees are named by notifications of the journal, and know who waits for them. */
const CALL = `(select ${
  itemOf("call", {
    id: "i.id",
    target: "coalesce(i.service || '/' || i.key, i.service) || '/' || i.handler",
  })
} from journal as j, json_each(iif(json_valid(j.entries), j.entries, '[]')) as e
  join invocation as i on i.id = e.value ->> '$.result.id'
  where j.id = t.id and e.value ->> '$.result.kind' = 'invocationId'
  and ${isIn("i.body -> '$.callers'")} limit 1)`;

const ITEM = `case w.kind when 'signals' then ${
  itemOf("awakeable", { id: awakeableId("w.value"), index: "w.value" })
}
  when 'names' then ${itemOf("signal", { name: "w.value" })}
  else coalesce(${SLEEP}, ${PROMISE}, ${CALL}, ${itemOf("completion", { index: "w.value" })}) end`;

/** How many of them it waits for, in a word: what is nested is not told apart. */
export const HOW_MANY = `case when json_valid(${AWAITING}) then
  iif(${AWAITING} ->> '$.nested' is not null, 'some',
  iif(${AWAITING} ->> '$.kind' in ('all', 'allCompleted'), 'all', 'one')) end`;

/** Tables of `AWAITED` and `AWAITED_COUNT`, for a WITH RECURSIVE. */
export const AWAITED_TABLES = `${awakeableTables("t.id")}, leaf(kind, value) as (${LEAVES}),
  w(kind, value) as (select kind, value from leaf limit ${SHOWN_MAX}),
  item(json) as (select ${ITEM} from w, prefix)`;

/** What it waits for, as a JSON array: the first `SHOWN_MAX`. */
export const AWAITED = "(select json_group_array(json(item.json)) from item)";

/** How many there are in all. */
export const AWAITED_COUNT = "(select count(*) from leaf)";
