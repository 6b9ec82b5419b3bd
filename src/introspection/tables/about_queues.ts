import type { TableNotes } from "./about.ts";

const QUEUE_KEY = "Number that its invocation ids begin with; null where they differ.";
const UNMEASURED = "Always null: there is no such wait, or it is not measured.";

const ENTRY = {
  stage:
    "Where it stands. One that backs off and keeps its slots is `running`; one whose attempt " +
    "waits for a slot of the invoker is in the `inbox`.",
  status: "`new`: it never ran. `started`: it has. How it ended, once it is `finished`.",
  has_lock: "Whether it holds the lock of its object.",
  sequence_number: "When it was accepted, in milliseconds since the epoch.",
  entry_kind:
    "Always `invocation`: an edit of state that waits is a row of `sys_inbox` without an id.",
  created_at: "When it was accepted.",
  transitioned_at: "When its row last changed.",
  num_attempts: "Attempts since it last started or resumed, a running one included.",
  num_errors: "How many of them failed.",
  num_pauses: "Pauses among its last events.",
  num_suspensions: "How often it was suspended.",
  num_yields: "Attempts that would have been suspended, but what they awaited was there.",
  first_attempt_at: "When it first became ready to run.",
  latest_attempt_at: "When its latest attempt began.",
  first_runnable_at: "When it was accepted, or due if it was delayed.",
  deployment: "Deployment that it runs on; null before its first attempt.",
} as const;

const ALL = "How long it has waited in all";

const causes = (of: string, waited: string) => ({
  [`${of}_blocked_on_invoker_concurrency`]: `${
    waited === ALL ? waited : "While its attempt waits or runs: how long it waited"
  } for a slot of the invoker.`,
  [`${of}_blocked_on_throttling_rules`]: `${waited} for the rate of a limit.`,
  [`${of}_blocked_on_invoker_throttling`]: UNMEASURED,
  [`${of}_blocked_on_invoker_memory`]: UNMEASURED,
  [`${of}_blocked_on_concurrency_rules`]: `${waited} because too many others run.`,
  [`${of}_blocked_on_lock`]: `${waited} for its object.`,
  [`${of}_blocked_on_deployment_concurrency`]: UNMEASURED,
});

/** What stands in the tables of flow control: see `about.ts`. */
export const queueNotes: Readonly<Record<string, TableNotes>> = {
  sys_user_limits: {
    rows: "Scopes and levels of limit keys of which something runs or waits for a limit.",
    columns: {
      partition_key: "Number that the invocation ids of the scope begin with.",
      scope: "Name of the scope.",
      l1: "First level of the limit key; null for the whole scope.",
      l2: "Second level of the limit key.",
      level: "How much of the name is there.",
      usage: "Invocations that hold a slot.",
      concurrency_limit: "How many may; null without a limit.",
      rule_pattern: "Pattern of the rule that applies.",
      available: "Slots that are free. 0 while more are held than the limit allows.",
      num_waiters: "Virtual queues whose head waits for this limit.",
      rate_count: "Starts in each `rate_period`; null without a rate.",
      rate_period: "See `rate_count`.",
      rate_burst: "Starts that an idle limit allows at once.",
      rate_available: "Starts that are allowed now.",
    },
  },
  sys_scheduler: {
    rows: "Virtual queues in which something waits, with what the first one waits for.",
    columns: {
      partition_key: QUEUE_KEY,
      id: "Id of the virtual queue, `vq_1…`.",
      num_inbox: "How many invocations wait.",
      status: "`ready`: nothing keeps the head from starting.",
      head_entry_id: "The invocation that is next.",
      scheduled_at: "When it is due, or its back-off is over.",
      blocked_on:
        "What it waits for: `lock`, `limit-key-concurrency`, `throttling_rules` (the rate of a rule), " +
        "`service-concurrency`, `service-rate`, `handler-concurrency`, `handler-rate`, `paused` or " +
        "`invoker-concurrency` (a slot).",
      blocked_on_json:
        "The same as JSON, with names: the rule and its level, the lock, the service and handler, " +
        "what is paused.",
      invoker_concurrency_block_duration: "How long it has waited for slots of the invoker.",
      throttling_rules_block_duration: "How long it has waited for the rate of a limit.",
      invoker_throttling_block_duration: UNMEASURED,
      invoker_memory_block_duration: UNMEASURED,
      concurrency_rules_block_duration: "How long it has waited because too many others ran.",
      lock_block_duration: "How long it has waited for its object.",
      deployment_concurrency_block_duration: UNMEASURED,
      pause_block_duration: "How long it has waited for something that is paused.",
    },
  },
  sys_vqueue_meta: {
    rows: "Virtual queues with a stored invocation. With `is_active = true`, or a number that is " +
      "`> 0`, no completed invocation is read.",
    columns: {
      partition_key: QUEUE_KEY,
      id: "Id of the virtual queue, `vq_1…`.",
      is_active: "Whether it has an invocation that is not completed.",
      queue_is_paused: "Whether an operator has paused it.",
      service_name: "Name of the service.",
      scope: "Scope of its invocations; null without one.",
      limit_key: "Their limit key; null without one.",
      lock_name: "`Service/key` of the object or workflow; null for plain services.",
      created_at: "When its oldest invocation was accepted.",
      last_enqueued_at: "When its newest one was.",
      last_start_at: "When one last started.",
      last_attempt_at: "When an attempt last began that has failed, or one started.",
      last_finish_at: "When one last completed.",
      avg_queue_duration: "From when they could first run until they did.",
      avg_inbox_duration: "How long they waited in all.",
      avg_run_duration: "From the first start to completion.",
      avg_suspension_duration: "How long they were suspended in all, of those that ever were.",
      avg_end_to_end_duration: "From when they could first run to completion.",
      avg_blocked_on_concurrency_rules: "How long they waited because too many others ran.",
      avg_blocked_on_invoker_concurrency:
        "How long their attempts waited for slots of the invoker.",
      avg_blocked_on_invoker_throttling: UNMEASURED,
      avg_blocked_on_lock: "How long they waited for their object.",
      num_inbox: "Invocations that wait, to start or to be tried again.",
      num_running: "Invocations whose attempt runs, or that back off and keep their slots.",
      num_suspended: "Invocations that are suspended.",
      num_paused: "Invocations that are paused.",
      num_finished: "Completed invocations that are still stored.",
      avg_blocked_on_rate: "How long they waited for the rate of a limit.",
      avg_blocked_on_pause: "How long they waited for something that was paused.",
    },
  },
  sys_vqueues: {
    rows: "Every invocation that is stored, as an entry of its virtual queue.",
    columns: {
      partition_key: "Number that the invocation id begins with; decides the partition.",
      id: "Id of the virtual queue, `vq_1…`.",
      ...ENTRY,
      run_at: "In the inbox: when it could first run, or its back-off is over.",
      entry_id: "Invocation id.",
    },
  },
  sys_vqueue_entry_status: {
    rows: "The same entries, with what they have waited for.",
    columns: {
      partition_key: "Number that the invocation id begins with; decides the partition.",
      entry_id: "Invocation id. A malformed id in a condition is refused with 400.",
      vqueue_id: "Id of its virtual queue.",
      ...ENTRY,
      next_at: "As `run_at` of `sys_vqueues`; of a finished one, when its retention is over.",
      needed_memory: "Always null.",
      retry_attempts: "Failed attempts that the retry policy counts.",
      retry_count_since_last_stored_command: "Failed attempts since its last command was stored.",
      ...causes("latest_attempt", "While it waits: for how long now,"),
      ...causes("total", ALL),
      total_blocked_on_pause: "How long it has waited for something that is paused.",
    },
  },
};
