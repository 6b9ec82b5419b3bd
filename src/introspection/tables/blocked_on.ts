import { QUEUE_ID, tokensNow } from "./queue_parts.ts";
import { latestDeployment } from "./schema_tables.ts";

// What the head of a virtual queue waits for, in the order of the checks of the engine (`engine/flow`).
// `t` is a queue with its head, `c` the control of its service, `s`, `l1` and `l2` its limits by rules.

/** Whether all of a limit is used. */
const isFull = (limit: string) =>
  `(${limit}.concurrency is not null and ${limit}.usage >= ` +
  `${limit}.concurrency)`;
const isDry = (limit: string) => `(t.has_run = 0 and ${limit}.tokens < 1)`;

/** The levels of a limit key, the narrowest first: which of them is full decides what is waited for. */
const LEVELS = ["l2", "l1", "s"] as const;

/** What operators have set of the service of a head. */
const setting = (path: string) => `(c.body ->> ${path})`;

/** SQL for each of what can be paused, in the order of the checks of the engine: its name if it is. */
const PAUSED = {
  service: `iif(${setting("'$.paused'")} = 1, t.service, null)`,
  deployment: `(select k.name from control as k
    where exists (select 1 from control as a where a.kind = 'deployment') and k.kind = 'deployment'
    and k.name = coalesce(t.deployment, ${latestDeployment("t.service")}))`,
  queue: `(select k.name from control as k where k.kind = 'queue' and k.name = ${QUEUE_ID})`,
};

/** What is full of a service or a handler: `where` picks the slots that count, `at` has its limits. */
function ownCauses(
  level: "handler" | "service",
  { where, at, name }: { readonly where: string; readonly at: string; readonly name: string },
): string {
  const of = (path: string) => setting(`(${at} || '.${path}')`);
  const used = `coalesce((select sum(u.held) from used as u where ${where}), 0)`;
  // Without a row the bucket is full, and without a rate there is no bucket.
  const tokens = `(select ${tokensNow(of("rate.count"), of("rate.periodMs"))} from bucket as b
    where b.counter = '${level}:' || ${name})`;
  return `when ${of("concurrency")} <= ${used} then '${level}-concurrency'
    when t.has_run = 0 and ${tokens} < 1 then '${level}-rate'`;
}

const OWN_CAUSES = ownCauses("handler", {
  where: "u.service = t.service and u.handler = t.handler",
  at: `'$.handlers."' || t.handler || '"'`,
  name: "t.service || '/' || t.handler",
}) + " " + ownCauses("service", {
  where: "u.service = t.service",
  at: "'$.limits'",
  name: "t.service",
});

/**
 * `limit_name`, `limit_level` and `limit_pattern` of the limit of a rule that a head waits for,
 * `paused_what` and `paused_name` of what is paused, and `blocked_on`.
 */
export function blockedOn(): string {
  const first = (then: (level: string) => string) =>
    `case ${
      LEVELS.map((one) => `when ${isFull(one)} or ${isDry(one)} then ${then(one)}`).join(" ")
    } end`;
  const cause = first((one) => `iif(${isFull(one)}, 'limit-key-concurrency', 'throttling_rules')`);
  const what = Object.entries(PAUSED).map(([word, sql]) =>
    `when ${sql} is not null then '${word}'`
  );
  const isPaused = Object.values(PAUSED).map((sql) => `${sql} is not null`).join(" or ");
  return `case when t.status = 'inboxed' then 'lock'
      when t.status = 'invoked' then 'invoker-concurrency' when t.status <> 'queued' then null
      when ${isPaused} then 'paused'
      ${OWN_CAUSES}
      else ${cause} end as blocked_on,
    case ${what.join(" ")} end as paused_what,
    coalesce(${Object.values(PAUSED).join(", ")}) as paused_name,
    ${first((one) => `${one}.name`)} as limit_name,
    ${first((one) => `lower(${one}.level)`)} as limit_level,
    ${first((one) => `${one}.pattern`)} as limit_pattern`;
}
