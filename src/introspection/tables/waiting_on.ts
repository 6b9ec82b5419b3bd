import { failureText } from "./failure_text.ts";
import { lockNameOf, objectOfInvocation } from "./object_name.ts";
import { acquiredAt } from "./object_tables.ts";
import { queueId } from "./queue_id.ts";
import { latestDeployment } from "./schema_tables.ts";
import { isRunning } from "./shown_status.ts";
import { AWAITED, AWAITED_COUNT, AWAITED_TABLES, HOW_MANY } from "./wait_awaited.ts";
import { facts, inBody, isoTime } from "./wait_facts.ts";
import { FULL_LIMIT, LIMIT_TABLES } from "./wait_limit.ts";
import { QUEUE_PLACE } from "./queue_place.ts";

// `t` is a stored invocation. The facts are what the rows say at the moment of the query.

const start = facts("start", { at: isoTime(inBody("status.at")) });

const lock = facts("lock", {
  lock: `coalesce(${lockNameOf("k.object")}, t.service || '/' || t.key)`,
  scope: inBody("target.scope"),
  holder: "k.holder",
  since: isoTime(`(select ${acquiredAt} from invocation as i where i.id = k.holder)`),
  place: "d.place",
});

/** The lock that it waits for, which is not held only while its holder changes. */
const LOCK = `select ${lock} from d left join lock as k on k.object = ${objectOfInvocation}`;

const since = isoTime(inBody("status.since"));

/** Facts of the pause of `what` with the name `name`, which is SQL and computed if any is paused. */
function paused(what: string, name: string, where = "1"): string {
  return `select ${
    facts("resume", { paused: `'${what}'`, name: "k.name", since })
  } from control as k
    where exists (select 1 from control as a where a.kind = '${what}')
    and k.kind = '${what}' and k.name = ${name} and ${where}`;
}

/** In the order of the checks of the engine (`engine/flow`). */
const QUEUED = {
  by_service: paused("service", "t.service", "k.body ->> '$.paused'"),
  by_deployment: paused(
    "deployment",
    `coalesce(${inBody("pin.deployment")}, ${latestDeployment("t.service")})`,
  ),
  by_queue: paused("queue", queueId),
  by_limit: FULL_LIMIT,
  by_turn: `select ${facts("turn", { place: "d.place", since })} from d`,
};
const CAUSES = Object.keys(QUEUED).map((table) => `(select f from ${table})`).join(", ");

const lastFailure = {
  code: inBody("lastFailure.code"),
  error: failureText(inBody("lastFailure.status"), inBody("lastFailure.message")),
};

const retry = facts("retry", {
  at: isoTime(inBody("status.until")),
  failed: `${inBody("failures")} + coalesce(${inBody("spared")}, 0)`,
  ...lastFailure,
});

const notification = facts("notification", {
  how: HOW_MANY,
  on: AWAITED,
  count: AWAITED_COUNT,
});

const operator = facts("operator", {
  since: isoTime(`(select e.body ->> '$.at' from event as e where e.id = t.id
    and e.body ->> '$.kind' = 'paused' order by e.seq desc limit 1)`),
  ...lastFailure,
});

const letter = facts("letter", {
  since: isoTime(inBody("status.letterSince")),
  topic: `(select substr(k.body ->> '$.options."on.poison"', ${"dead-letter:".length + 1})
    from control as k where k.kind = 'subscription' and k.name = t.subscription)`,
  ...lastFailure,
});

/** One list, since SQLite's parser takes no deep nesting. */
const CAUSE_TABLES = Object.entries({ by_lock: LOCK, ...QUEUED })
  .map(([table, sql]) => `${table}(f) as (${sql})`).join(", ");

/**
 * Tables of `WAITING_ON`, for a WITH RECURSIVE. What is not mentioned for a status is not computed.
 */
export const WAITING_TABLES = `d(place) as (select ${QUEUE_PLACE}), ${LIMIT_TABLES},
  ${AWAITED_TABLES}, ${CAUSE_TABLES}`;

/**
 * What the invocation `t` waits for, as JSON: which of `WaitsFor`, and its facts. Null while it runs
 * and once it is completed.
 */
export const WAITING_ON = `case t.status when 'scheduled' then ${start}
  when 'inboxed' then (select f from by_lock) when 'queued' then coalesce(${CAUSES})
  when 'backingOff' then ${retry} when 'suspended' then ${notification}
  when 'paused' then iif(${inBody("status.letterSince")} is null, ${operator}, ${letter})
  when 'invoked' then iif(${isRunning}, null, '{"for":"attempt"}') end`;
