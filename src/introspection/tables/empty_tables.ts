import type { ColumnType } from "../column_type.ts";
import type { Table } from "./table.ts";

/**
 * Tables that are always empty in this server, with the reference's columns
 * (docs/spec/queries.md#tables).
 */
const COLUMNS: Readonly<Record<string, readonly (readonly [ColumnType, string])[]>> = {
  sys_rules: [
    ["str", "pattern"],
    ["u32", "concurrency"],
    ["str", "description"],
    ["bool", "disabled"],
    ["u32", "version"],
    ["ts", "last_modified"],
  ],
  sys_scheduler: [
    ["key", "partition_key"],
    ["str", "id"],
    ["u64", "num_inbox"],
    ["str", "status head_entry_id"],
    ["ts", "scheduled_at"],
    ["str", "blocked_on blocked_on_json"],
    [
      "dur",
      "invoker_concurrency_block_duration throttling_rules_block_duration " +
      "invoker_throttling_block_duration invoker_memory_block_duration " +
      "concurrency_rules_block_duration lock_block_duration " +
      "deployment_concurrency_block_duration",
    ],
  ],
  sys_user_limits: [
    ["key", "partition_key"],
    ["str", "scope l1 l2 level"],
    ["u32", "usage concurrency_limit"],
    ["str", "rule_pattern"],
    ["u32", "available"],
    ["u64", "num_waiters"],
  ],
  sys_vqueue_entry_status: [
    ["key", "partition_key"],
    ["str", "entry_id vqueue_id stage status"],
    ["bool", "has_lock"],
    ["ts", "next_at"],
    ["u64", "sequence_number"],
    ["str", "entry_kind"],
    ["ts", "created_at transitioned_at"],
    ["u32", "num_attempts num_errors num_pauses num_suspensions num_yields"],
    ["ts", "first_attempt_at latest_attempt_at first_runnable_at"],
    ["str", "deployment"],
    ["u64", "needed_memory"],
    ["u32", "retry_attempts retry_count_since_last_stored_command"],
    [
      "dur",
      ["latest_attempt", "total"].flatMap((which) =>
        [
          "invoker_concurrency",
          "throttling_rules",
          "invoker_throttling",
          "invoker_memory",
          "concurrency_rules",
          "lock",
          "deployment_concurrency",
        ].map((what) => `${which}_blocked_on_${what}`)
      ).join(" "),
    ],
  ],
  sys_vqueue_meta: [
    ["key", "partition_key"],
    ["str", "id"],
    ["bool", "is_active queue_is_paused"],
    ["str", "service_name scope limit_key lock_name"],
    ["ts", "created_at last_enqueued_at last_start_at last_attempt_at last_finish_at"],
    [
      "dur",
      "avg_queue_duration avg_inbox_duration avg_run_duration avg_suspension_duration " +
      "avg_end_to_end_duration avg_blocked_on_concurrency_rules " +
      "avg_blocked_on_invoker_concurrency avg_blocked_on_invoker_throttling avg_blocked_on_lock",
    ],
    ["u64", "num_inbox num_running num_suspended num_paused num_finished"],
  ],
  sys_vqueues: [
    ["key", "partition_key"],
    ["str", "id stage status"],
    ["bool", "has_lock"],
    ["ts", "run_at"],
    ["u64", "sequence_number"],
    ["str", "entry_id entry_kind"],
    ["ts", "created_at transitioned_at"],
    ["u32", "num_attempts num_errors num_pauses num_suspensions num_yields"],
    ["ts", "first_attempt_at latest_attempt_at first_runnable_at"],
    ["str", "deployment"],
  ],
};

/** Flow control is another issue: until then its tables are there and have no rows. */
export const emptyTables: readonly Table[] = Object.entries(COLUMNS).map(([name, groups]) => ({
  name,
  kind: "BASE TABLE",
  from: "(select 0) as t",
  where: "0",
  columns: groups.flatMap(([type, names]) =>
    names.split(" ").map((name) => ({ name, type, sql: "null" }))
  ),
}));
