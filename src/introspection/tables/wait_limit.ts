import { facts, inBody, isoTime } from "./wait_facts.ts";
import { tokensNow } from "./queue_parts.ts";
import { NOW } from "./table.ts";

// `t` is a stored invocation that is queued. Counters have the names that the engine gives them.

/** Parts of a limit key, which is SQL: its first level, and whether it has a second one. */
const firstLevel = (key: string) => `substr(${key}, 1, instr(${key} || '/', '/') - 1)`;
const hasSecond = (key: string) => `instr(${key}, '/') > 0`;

const scopeIn = (row: string) => `(${row}.body ->> '$.target.scope')`;
const keyIn = (row: string) => `(${row}.body ->> '$.limitKey')`;

/** The counters of an invocation, as a JSON array; null where it has none. */
const countersOf = (row: string) =>
  `json_array('handler:' || ${row}.service || '/' || ${row}.handler, 'service:' || ${row}.service,
    case when ${hasSecond(keyIn(row))} then 'scope:' || ${scopeIn(row)} || '/' || ${keyIn(row)} end,
    'scope:' || ${scopeIn(row)} || '/' || ${firstLevel(keyIn(row))}, 'scope:' || ${scopeIn(row)})`;

/** How many invocations hold a slot of each counter. It depends on no row, so it is made once. */
const USED = `select c.value, count(*)
  from invocation as h, json_each(${countersOf("h")}) as c
  where h.status in ('invoked', 'backingOff') and h.status <> 'completed' and c.value is not null
  and (h.status = 'invoked' or h.body ->> '$.status.holds') group by c.value`;

/** The patterns of rules for a scope and both levels, the best of each depth first. */
const PATTERNS = [
  ["x", "y", "z"],
  ["x", "y", "*"],
  ["x", "*", "z"],
  ["x", "*", "*"],
  ["*", "y", "z"],
  ["*", "y", "*"],
  ["*", "*", "z"],
  ["*", "*", "*"],
  ["x", "y"],
  ["x", "*"],
  ["*", "y"],
  ["*", "*"],
  ["x"],
  ["*"],
].map((parts) => {
  const pattern = parts.map((part) => part === "*" ? "'*'" : `p.${part}`).join(" || '/' || ");
  // Without the level that a pattern of only asterisks stands for there is nothing that it limits.
  const level = [undefined, "p.x", "p.y", "p.z"][parts.length];
  return `iif(${level} is null, null, ${pattern})`;
});

/** The scope and both levels of the limit key. */
const PARTS = `select ${scopeIn("t")}, ${firstLevel(keyIn("t"))},
  case when ${hasSecond(keyIn("t"))}
  then substr(${keyIn("t")}, instr(${keyIn("t")}, '/') + 1) end`;

/** The rules that apply: of each depth the best one that is not disabled (docs/spec/admin.md#rules). */
const RULES = `select 4 - (length(c.value) - length(replace(c.value, '/', ''))) as at,
  r.body ->> '$.pattern' as rule, r.body -> '$.limits' as limits, min(c.key) as best
  from p, json_each(json_array(${PATTERNS.join(", ")})) as c join rule as r on r.pattern = c.value
  where not r.body ->> '$.disabled' group by 1`;

const SERVICE = "from control as k where k.kind = 'service' and k.name = t.service";

/** What limits it, with the place of its counter among `countersOf`: the narrowest has the first. */
const LIMITS = `select 0, null,
  (select h.value from json_each(k.body, '$.handlers') as h where h.key = t.handler) ${SERVICE}
  union all select 1, null, k.body -> '$.limits' ${SERVICE}
  union all select at, rule, limits from r`;

/** The same with what the engine counts. */
const COUNTED = `select o.at as at, o.rule as rule, ${countersOf("t")} ->> o.at as counter,
  o.limits ->> '$.concurrency' as most, o.limits ->> '$.rate.count' as count,
  o.limits ->> '$.rate.periodMs' as period from o`;

/** A service has slots in all databases, and a bucket in one of them; a scope is in one. */
const TOKENS = `coalesce(${
  ["bucket", "elsewhere"].map((table) =>
    `(select ${tokensNow("l.count", "l.period")} from ${table} as b
    where b.counter = l.counter and b.tokens is not null)`
  ).join(", ")
})`;
const HELD = `coalesce((select u.n from u where u.counter = l.counter), 0) +
  coalesce((select sum(e.held) from elsewhere as e where e.counter = l.counter), 0)`;

/** The same with what is used of it. Only a first start needs a token. */
const USES = `select l.*, ${HELD} as used,
  iif(l.count is null or ${inBody("runningAt")} is not null, null, ${TOKENS}) as tokens from l`;

const LEVEL = `case f.at when 0 then 'handler' when 1 then 'service' when 2 then 'l2'
  when 3 then 'l1' else 'scope' end`;

/** What the counter counts, without the word before it. */
const NAME = "substr(f.counter, instr(f.counter, ':') + 1)";

const of = { level: LEVEL, name: NAME, rule: "f.rule" };
const place = "d.place";
const SLOT = facts("slot", { ...of, used: "f.used", limit: "f.most", place });
const TOKEN = facts("token", {
  ...of,
  limit: "f.count",
  period_ms: "f.period",
  until: isoTime(`${NOW} + (1 - f.tokens) * f.period / f.count`),
  place,
});

/** Tables of `FULL_LIMIT`, for a WITH. They need `d`, with the place in the queue. */
export const LIMIT_TABLES = `u(counter, n) as (${USED}), p(x, y, z) as (${PARTS}), r as (${RULES}),
  o(at, rule, limits) as (${LIMITS}), l as (${COUNTED}), f as (${USES})`;

/** Facts of the first limit that has no room, as SQL. Null: all have. */
export const FULL_LIMIT =
  `select case when f.used >= f.most then ${SLOT} else ${TOKEN} end from f, d
  where (f.used >= f.most or f.tokens < 1) order by f.at limit 1`;
