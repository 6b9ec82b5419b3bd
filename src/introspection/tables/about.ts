import { auditNotes } from "./about_audit.ts";
import { kafkaNotes } from "./about_kafka.ts";
import { queueNotes } from "./about_queues.ts";

/** What a table has a row for, and what its columns hold, by name. For `docs/sql.md`. */
export interface TableNotes {
  readonly rows: string;
  readonly columns: Readonly<Record<string, string>>;
}

const KEY = {
  partition_key: "Number that the invocation id begins with; decides the partition.",
} as const;
const EMPTY_KEY = { partition_key: "Always null in this table." } as const;
const OBJECT = {
  service_name: "Name of the virtual object or workflow.",
  service_key: "Key of the object, or id of the workflow.",
} as const;
const SCOPE = { scope: "Scope of the object; null without one." } as const;

const IDENTITY = {
  id: "Invocation id, `inv_1…`. A malformed id in a condition is refused with 400.",
  vqueue_id: "Id of its virtual queue, `vq_1…`.",
} as const;

const TARGET = {
  target: "`Service/handler`, or `Service/key/handler`.",
  target_service_name: "Name of the service.",
  target_service_key: "Key of the object, or id of the workflow; null for plain services.",
  target_handler_name: "Name of the handler.",
  target_service_ty: "Type of the service.",
  scope: "Scope that it was called in; null without one.",
  limit_key: "Limit key, of one level or of two with a slash between them; null without one.",
  idempotency_key: "`Idempotency-Key` of the request; null without one.",
  invoked_by: "What made the invocation.",
  invoked_by_service_name: "Service of the calling invocation; null if it came from elsewhere.",
  invoked_by_id: "Id of the calling invocation.",
  invoked_by_subscription_id: "Id of the subscription.",
  invoked_by_target: "Target of the calling invocation.",
  restarted_from: "Id of the invocation that this one restarts.",
} as const;

const PROGRESS = {
  pinned_deployment_id:
    "Deployment that it runs on until it completes; null before its first attempt.",
  pinned_service_protocol_version: "Service protocol version of its attempts.",
  trace_id: "Trace id of its spans, 32 hexadecimal digits.",
  journal_size: "Entries in its journal; null before it starts.",
  journal_commands_size: "Entries in its journal that are commands, the input included.",
  created_at: "When the request was accepted.",
  created_using_svc_version: "Always null.",
  modified_at: "When its row last changed.",
  inboxed_at: "When it began to wait for its object, or now for a limit; null if it never waited.",
  scheduled_at: "When a delayed invocation was accepted; null without a delay.",
  scheduled_start_at: "When a delayed invocation is due.",
  running_at: "When it first became ready to run.",
  completed_at: "When it completed.",
  completion_retention: "How long its result is kept.",
  journal_retention: "How long its journal is kept after completion.",
  suspended_waiting_for_completions: "While suspended: completion ids it waits for.",
  suspended_waiting_for_signals: "While suspended: signal numbers it waits for; 1 is cancellation.",
  suspended_waiting_future_json: "While suspended: the awaited futures, as a JSON tree.",
} as const;

const WAITING = {
  priority: "Its priority among those that wait, from 0 to 9, the highest.",
  queue_position:
    "While it is `pending`: its place among those with its object, or its limits and priority.",
  waited_for_lock: "How long it has waited for its object, until now.",
  waited_for_concurrency: "How long it has waited because too many others ran.",
  waited_for_rate: "How long it has waited for the rate of a limit.",
  waited_for_pause: "How long it has waited for something that is paused.",
  waited_for_invoker: "How long its attempts have waited for slots of the invoker.",
} as const;

const REASON = {
  waiting_on: "What it waits for, as JSON; null while it runs and once it is completed.",
  waiting_reason: "The same in a sentence.",
} as const;

const ATTEMPT = {
  retry_count: "Attempts since it last started or resumed, a running one included.",
  last_start_at: "When its latest attempt began.",
  next_retry_at: "When its next attempt begins; null unless it is backing off.",
  last_attempt_deployment_id: "Deployment of its latest attempt.",
  last_attempt_server: "SDK and version that answered its latest attempt.",
  last_failure: "`[status] message` and stack trace of its last failed attempt.",
  last_failure_error_code: "[Error code](errors.md) of that failure, `RT…`.",
  last_failure_related_entry_index: "Always null.",
  last_failure_related_entry_name: "Always null.",
  last_failure_related_entry_type: "Always null.",
  last_failure_related_command_index: "Index of the command that failed; null if it is not known.",
  last_failure_related_command_name: "Name of that command.",
  last_failure_related_command_type: "Type of that command, such as `Run`.",
  last_awaiting_on_future_json: "Always null.",
} as const;

const RESULT = {
  completion_result: "How it completed; null before. A canceled or killed one is a `failure`.",
  completion_failure: "`[code] message` of the failure; `[409] killed` and the like.",
} as const;

/** What stands in the tables, by name of the table. A test compares it with the columns there are. */
export const tableNotes: Readonly<Record<string, TableNotes>> = {
  sys_invocation: {
    rows: "Every invocation that is stored, with what is known of its attempts. Start here.",
    columns: {
      ...IDENTITY,
      ...TARGET,
      ...PROGRESS,
      ...ATTEMPT,
      status:
        "Where it stands. `ready`: it has no attempt yet. `pending`: it waits for its object or a limit.",
      ...RESULT,
      ...WAITING,
      ...REASON,
      failed_attempts: "How many of its attempts have failed since it was accepted.",
    },
  },
  sys_invocation_status: {
    rows: "Every invocation that is stored, without its attempts. Cheaper than `sys_invocation`.",
    columns: {
      ...KEY,
      ...IDENTITY,
      status:
        "What is stored. `invoked`: running, ready or backing off. `inboxed`: shown as `pending`.",
      ...RESULT,
      ...TARGET,
      ...PROGRESS,
      ...WAITING,
    },
  },
  sys_invocation_state: {
    rows: "Invocations that run or wait for a retry, with their attempts.",
    columns: {
      ...KEY,
      id: IDENTITY.id,
      in_flight: "Whether an attempt runs at this moment.",
      ...ATTEMPT,
    },
  },
  sys_journal: {
    rows: "Entries of journals. Name the invocation by `id`, or all journals are read.",
    columns: {
      ...KEY,
      id: IDENTITY.id,
      index: "Place in the journal, from 0.",
      entry_type: "What it is. `Unreadable`: the entry is damaged on disk.",
      name: "Name that the handler gave it, or the state key or promise it is about.",
      completed: "Always null.",
      invoked_id: "Always null; see `entry_json`.",
      invoked_target: "Always null; see `entry_json`.",
      sleep_wakeup_at: "Always null; see `entry_json`.",
      promise_name: "Always null; see `entry_json`.",
      raw: "Body of its message in the service protocol.",
      raw_length: "Size of `raw`, found without reading it.",
      version: "Version of the entry format: 2.",
      entry_json: "The entry as JSON; null for entries of more than 4 MiB.",
      entry_lite_json: "The same without values.",
      appended_at: "When it was stored.",
    },
  },
  sys_journal_events: {
    rows: "Failed attempts and pauses of invocations. The last ones are kept.",
    columns: {
      ...KEY,
      id: IDENTITY.id,
      after_journal_entry_index: "Index of the last journal entry before it.",
      appended_at: "When it happened.",
      event_type: "What happened.",
      event_json:
        "Details: `error_code`, `error_message`, `error_stacktrace`, `related_command_…`.",
      failed_attempts: "How many attempts of the invocation had failed by then, this one included.",
    },
  },
  state: {
    rows: "Every state entry of virtual objects and workflows.",
    columns: {
      ...EMPTY_KEY,
      ...SCOPE,
      ...OBJECT,
      key: "Name of the state entry.",
      key_length: "Size of `key`.",
      value_utf8: "Its value as text; null if it is not UTF-8.",
      value: "Its value, as the SDK serialized it.",
      value_length: "Size of `value`.",
    },
  },
  sys_inbox: {
    rows: "Invocations that wait for their object.",
    columns: {
      ...KEY,
      ...OBJECT,
      id: IDENTITY.id,
      sequence_number: "Place in the queue of its object; the lowest is next.",
      created_at: "When the invocation was accepted.",
      ...SCOPE,
    },
  },
  sys_keyed_service_status: {
    rows: "Objects and workflows that an invocation holds.",
    columns: {
      ...KEY,
      ...OBJECT,
      invocation_id: "Invocation that holds the key.",
      ...SCOPE,
    },
  },
  sys_locks: {
    rows: "The same locks by name.",
    columns: {
      ...KEY,
      ...SCOPE,
      lock_name: "`Service/key`.",
      acquired_at: "When the holder got it.",
      acquired_by: "Invocation that holds the lock.",
    },
  },
  sys_promise: {
    rows: "Durable promises of workflows.",
    columns: {
      ...EMPTY_KEY,
      ...SCOPE,
      service_name: "Name of the workflow.",
      service_key: "Id of the workflow.",
      key: "Name of the promise.",
      completed: "Whether it is resolved or rejected.",
      completion_success_value: "Its value, as the SDK serialized it.",
      completion_success_value_utf8: "Its value as text; null if it is not UTF-8.",
      completion_failure: "`[code name] message` of its rejection.",
    },
  },
  sys_deployment: {
    rows: "Registered deployments.",
    columns: {
      id: "Deployment id, `dp_…`.",
      ty: "Kind of its endpoint.",
      endpoint: "Its URL, or ARN.",
      created_at: "When it was registered.",
      min_service_protocol_version: "Lowest service protocol version that it speaks.",
      max_service_protocol_version: "Highest service protocol version that it speaks.",
      services: "Names of its services.",
      paused: "Whether an operator has paused it.",
    },
  },
  sys_service: {
    rows: "The latest revision of each registered service.",
    columns: {
      name: "Name of the service.",
      revision: "Number of the revision, from 1.",
      public: "Whether the ingress accepts calls to it.",
      ty: "Type of the service.",
      deployment_id: "Deployment that new invocations run on.",
      paused: "Whether an operator has paused it.",
      concurrency: "Invocations of it that may run at once; null: unlimited.",
      rate_count: "Invocations of it that may start in each period; null: unlimited.",
      rate_period: "How long that period is.",
      rate_burst: "Starts at once after a time without any; null: as many as in a period.",
      handler_limits: "Limits of handlers by name, as JSON: `concurrency`, `rate_count`, " +
        "`rate_period_ms`, `rate_burst`. Null: none has any.",
    },
  },
  sys_rules: {
    rows: "The [rules](limits.md#rules) of the rule book.",
    columns: {
      pattern: "The scopes and limit keys that it is for.",
      concurrency: "Invocations that may run at once; null: unlimited.",
      description: "What somebody has written about it.",
      disabled: "Whether it has no effect.",
      version: "Grows with each change of its limits or of `disabled`.",
      last_modified: "When its version was last changed.",
      rate_count: "Invocations that may start in each period; null: unlimited.",
      rate_period: "How long that period is.",
      rate_burst: "Starts at once after a time without any; null: as many as in a period.",
    },
  },
  ...queueNotes,
  ...kafkaNotes,
  ...auditNotes,
};
