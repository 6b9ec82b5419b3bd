import { LIMIT_PARTS, LIMIT_TERMS } from "./limit_terms.ts";
import { partitionKeyOf, PARTS, type Table, type TableColumn } from "./table.ts";

const column = (name: string, type: TableColumn["type"], sql = `t.${name}`): TableColumn => ({
  name,
  type,
  sql,
});
const unknown = (name: string) => column(name, "dur", "null");

const userLimits: Table = {
  name: "sys_user_limits",
  kind: "BASE TABLE",
  from: `(with ${PARTS}${LIMIT_TERMS}, waiters as materialized (
    select q.limit_name as name, count(*) as waiters from queue as q
    where q.blocked_on in ('limit-key-concurrency', 'throttling_rules') group by 1)
    select u.*, coalesce(w.waiters, 0) as waiters
    from usage as u left join waiters as w on w.name = u.name) as t`,
  parts: LIMIT_PARTS,
  columns: [
    column("partition_key", "key", partitionKeyOf("t.some_id")),
    column("scope", "str"),
    column("l1", "str"),
    column("l2", "str"),
    { ...column("level", "str"), values: ["Scope", "Level1", "Level2"] },
    column("usage", "u32"),
    column("concurrency_limit", "u32", "t.concurrency"),
    column("rule_pattern", "str", "t.pattern"),
    column("available", "u32", "max(0, t.concurrency - t.usage)"),
    column("num_waiters", "u64", "t.waiters"),
    column("rate_count", "u32", "t.count"),
    column("rate_period", "dur", "t.period"),
    column("rate_burst", "u32", "t.burst"),
    column("rate_available", "u32", "cast(t.tokens as integer)"),
  ],
};

const OF_HANDLER =
  "json_object('resource', t.blocked_on, 'service', t.service, 'handler', t.handler)";

const JSON_OF = `case t.blocked_on
  when 'invoker-concurrency' then json_object('resource', t.blocked_on)
  when 'lock' then json_object('resource', 'lock', 'scope', t.scope, 'lock_name', t.lock_name)
  when 'paused' then
    json_object('resource', 'paused', 'paused', t.paused_what, 'name', t.paused_name)
  when 'service-concurrency' then json_object('resource', t.blocked_on, 'service', t.service)
  when 'service-rate' then json_object('resource', t.blocked_on, 'service', t.service)
  when 'handler-concurrency' then ${OF_HANDLER} when 'handler-rate' then ${OF_HANDLER}
  when 'limit-key-concurrency' then ${ofLimit()} when 'throttling_rules' then ${ofLimit()} end`;

function ofLimit(): string {
  return `json_object('resource', t.blocked_on, 'scope', t.scope,
    'limit_key', coalesce(t.limit_key, ''), 'blocked_level', t.limit_level,
    'blocked_rule', t.limit_pattern)`;
}

const scheduler: Table = {
  name: "sys_scheduler",
  kind: "BASE TABLE",
  from: `(with ${PARTS}${LIMIT_TERMS} select q.* from queue as q) as t`,
  parts: LIMIT_PARTS,
  ids: "head_entry_id",
  columns: [
    column("partition_key", "key"),
    { ...column("id", "str"), notNull: true },
    column("num_inbox", "u64", "t.waiting"),
    {
      ...column(
        "status",
        "str",
        "case when t.due is not null then 'scheduled' when t.blocked_on is null then 'ready' " +
          "else 'blocked' end",
      ),
      values: ["blocked", "scheduled", "ready"],
    },
    column("head_entry_id", "str", "t.some_id"),
    column("scheduled_at", "ts", "t.due"),
    column("blocked_on", "str"),
    column("blocked_on_json", "str", JSON_OF),
    column("invoker_concurrency_block_duration", "dur", "t.waited_invoker"),
    column("throttling_rules_block_duration", "dur", "t.waited_rate"),
    unknown("invoker_throttling_block_duration"),
    unknown("invoker_memory_block_duration"),
    column("concurrency_rules_block_duration", "dur", "t.waited_concurrency"),
    column("lock_block_duration", "dur", "t.waited_lock"),
    unknown("deployment_concurrency_block_duration"),
    column("pause_block_duration", "dur", "t.waited_paused"),
  ],
};

/** Limits and what waits for them (docs/spec/queries.md#tables). */
export const schedulerTables: readonly Table[] = [userLimits, scheduler];
