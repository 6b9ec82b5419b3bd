import { blockedOn } from "./blocked_on.ts";
import {
  BUCKETS,
  CONTROLS,
  DEPLOYMENTS,
  LOCK_NAME,
  MERGED_QUEUE,
  PARTITION_KEY,
  QUEUE_ID,
  QUEUE_KEYS,
  QUEUE_OF,
  RULES,
  tokensNow,
} from "./queue_parts.ts";
import { body, type Part } from "./table.ts";
import { isRunning } from "./shown_status.ts";
import { WAIT_CAUSES, waitedMs } from "./waiting_columns.ts";

// Terms of WITH that say which limits there are, how far they are used, and what each queue waits for.
// Of a scope `a` and a limit key `b/c`, limits are counted by name: `a`, `a/b` and `a/b/c`.

/** Invocations that hold slots, by what limits count. */
const HELD: Part = {
  name: "held",
  from: `(select t.service, t.handler, coalesce(${body("target.scope")}, '') as scope,
    coalesce(${body("limitKey")}, '') as limit_key, count(*) as held, min(t.id) as some_id
    from invocation as t
    where t.status <> 'completed' and t.status in ('invoked', 'backingOff')
    and (t.status = 'invoked' or ${body("status.holds")} = 1) group by 1, 2, 3, 4) as t`,
  columns: ["service", "handler", "scope", "limit_key", "held", "some_id"],
  keys: ["service", "handler", "scope", "limit_key"],
};

const HAS_RUN = `(${body("runningAt")} is not null)`;

/**
 * The order of a queue: what waits for a slot of the invoker; what waits for limits, the highest lane first; what waits for its object; what
 * waits for its time. The lanes are those of `engine/flow/queue.ts`.
 */
const PLACE = `case t.status
  when 'invoked' then printf('!%02d%016d', 9 - coalesce(${body("priority")}, 4), t.created_at)
  when 'queued' then printf('0%02d%016d', 99 - 2 * coalesce(${body("priority")}, 4) - ${HAS_RUN},
    t.queue_seq)
  when 'inboxed' then printf('1%016d', ${body("status.seq")})
  else printf('2%016d', coalesce(${body("status.until")}, ${body("status.at")})) end`;

/** What the parts have of a head. */
const OF_HEAD = [
  "status",
  "handler",
  "has_run",
  "due",
  "deployment",
  ...WAIT_CAUSES.map((cause) => `waited_${cause}`),
];
const head = OF_HEAD.map((one) => `t.${one}`).join(", ");

/**
 * Queues with something that waits. Columns of no aggregate are those of the head: the minimum's. The
 * limit keeps the inner query apart: rows are grouped by sorting, and bodies need not be sorted.
 */
const WAITING: Part = {
  name: "waiting",
  from: `(select ${QUEUE_KEYS.map((one) => `t.${one}`).join(", ")}, count(*) as waiting,
    min(t.place) as place, t.id as some_id, ${head} from (
    select ${QUEUE_OF}, t.id, ${PLACE} as place, t.status, t.handler, ${HAS_RUN} as has_run,
    ${body("pin.deployment")} as deployment,
    coalesce(${body("status.until")}, ${body("status.at")}) as due,
    ${WAIT_CAUSES.map((cause) => `${waitedMs(cause)} as waited_${cause}`).join(", ")}
    from invocation as t
    where t.status <> 'completed'
    and t.status in ('queued', 'inboxed', 'scheduled', 'backingOff', 'invoked')
    and (t.status <> 'backingOff' or coalesce(${body("status.holds")}, 0) <> 1)
    and (t.status <> 'invoked' or not ${isRunning}) limit -1) as t
    group by 1, 2, 3, 4) as t`,
  columns: [...QUEUE_KEYS, "waiting", "place", "some_id", ...OF_HEAD],
  keys: QUEUE_KEYS,
};

/** The parts of `LIMIT_TERMS`. */
export const LIMIT_PARTS: readonly Part[] = [
  HELD,
  WAITING,
  RULES,
  CONTROLS,
  DEPLOYMENTS,
  BUCKETS,
];

/** Both levels of a limit key, the second one null if there is none. */
const l1 = "iif(instr(t.limit_key, '/') > 0, " +
  "substr(t.limit_key, 1, instr(t.limit_key, '/') - 1), t.limit_key)";
const l2 = "iif(instr(t.limit_key, '/') > 0, " +
  "substr(t.limit_key, instr(t.limit_key, '/') + 1), null)";

/**
 * Scopes and limit keys as names with their levels. A term per level would be more than a Durable Object
 * takes in one compound SELECT: 5.
 */
const COUNTED = `select v.value as level, t.scope, iif(v.key >= 1, ${l1}, null) as l1,
  iif(v.key = 2, ${l2}, null) as l2, t.held, t.some_id
  from (select h.scope, h.limit_key, h.held, h.some_id from held as h union all
    select m.scope, m.limit_key, 0, m.some_id from merged as m where m.status = 'queued') as t,
  json_each('["Scope","Level1","Level2"]') as v
  where coalesce(t.scope, '') <> '' and (v.key = 0 or v.key = 1 and coalesce(t.limit_key, '') <> ''
    or v.key = 2 and instr(t.limit_key, '/') > 0)`;

/**
 * The pattern of the rule for a name with so many components: the most exact one that is not disabled,
 * where the scope counts more than both levels (docs/spec/admin.md#rules).
 */
function patternOf(components: readonly string[]): string {
  const found: string[] = [];
  for (let rank = 2 ** components.length - 1; rank >= 0; rank--) {
    const parts = components.map((one, i) => rank & 2 ** (components.length - 1 - i) ? one : "'*'");
    found.push(`(select p.pattern from rule as p where p.pattern = ${parts.join(" || '/' || ")}
      and coalesce(p.body ->> '$.disabled', 0) = 0)`);
  }
  return `coalesce(${found.join(", ")})`;
}

const PATTERN = `case t.level when 'Scope' then ${
  patternOf(["t.scope"]).replace("coalesce", "ifnull")
}
  when 'Level1' then ${patternOf(["t.scope", "t.l1"])}
  else ${patternOf(["t.scope", "t.l1", "t.l2"])} end`;

/** What a bucket has now, and at most its burst. Without a row it is full. */
const TOKENS = `min(p.burst, coalesce((select ${tokensNow("p.count", "p.period")} from bucket as b
  where b.counter = 'scope:' || p.name), p.burst))`;

const rate = (path: string) => `(r.body ->> '$.limits.rate.${path}')`;

/**
 * `usage`: limits of scopes and limit keys with their use. `queue`: queues with something that waits, and
 * the limit that their head waits for. Each ends with a comma.
 */
export const LIMIT_TERMS = `
  merged as materialized (select ${MERGED_QUEUE}, sum(t.waiting) as waiting, min(t.place) as place, t.some_id,
    ${head} from waiting as t group by 1, 2, 3, 4),
  counted as (${COUNTED}),
  added as (select t.level, t.scope, t.l1, t.l2, sum(t.held) as usage, min(t.some_id) as some_id,
    t.scope || coalesce('/' || t.l1, '') || coalesce('/' || t.l2, '') as name
    from counted as t group by 1, 2, 3, 4),
  ruled as (select t.*, ${PATTERN} as pattern from added as t),
  limited as (select t.*, r.body ->> '$.limits.concurrency' as concurrency,
    ${rate("count")} as count, ${rate("periodMs")} as period,
    coalesce(${rate("burst")}, ${rate("count")}) as burst
    from ruled as t left join rule as r on r.pattern = t.pattern),
  usage as materialized (select p.*, ${TOKENS} as tokens from limited as p),
  used as (select t.service, t.handler, sum(t.held) as held from held as t group by 1, 2),
  queue as materialized (select t.*, ${QUEUE_ID} as id, ${LOCK_NAME} as lock_name,
    ${PARTITION_KEY} as partition_key, ${blockedOn()}
    from merged as t
    left join usage as s on s.name = t.scope
    left join usage as l1 on l1.name = t.scope || '/' || ${l1}
    left join usage as l2 on instr(t.limit_key, '/') > 0 and l2.name = t.scope || '/' || t.limit_key
    left join control as c on c.kind = 'service' and c.name = t.service)`;
