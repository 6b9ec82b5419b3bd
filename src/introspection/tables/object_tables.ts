import { failureText } from "./failure_text.ts";
import { keyOf, lockNameOf, scopeOf, seekObject, serviceOf } from "./object_name.ts";
import { partitionKeyOf, type Table, type TableColumn } from "./table.ts";

// Rows of objects and workflows: see `objectOf` of the model for what they are stored by.

const text = (name: string, sql: string): TableColumn => ({ name, type: "str", sql });
/** The key of an object is not stored, and SQL cannot compute it. */
const noPartitionKey: TableColumn = { name: "partition_key", type: "key", sql: "null" };
const scope = text("scope", scopeOf("t.object"));
const byServiceKey = { service: "service_name", key: "service_key", scope: "scope" };

/** When the invocation `i`, which holds a lock, got it: when it was accepted or due, or had waited for it. */
export const acquiredAt =
  `coalesce(i.body ->> '$.inboxedAt' + coalesce(i.body ->> '$.waitedMs.lock', 0),
  i.body ->> '$.scheduledAt', i.created_at)`;

const state: Table = {
  name: "state",
  kind: "BASE TABLE",
  from: "whole_state as t",
  keys: ["t.object", "t.name"],
  seek: seekObject("state", byServiceKey),
  columns: [
    noPartitionKey,
    scope,
    text("service_name", serviceOf("t.object")),
    text("service_key", keyOf("t.object")),
    { name: "key", type: "str", sql: "t.name", notNull: true },
    { name: "key_length", type: "u64", sql: "length(cast(t.name as blob))" },
    { name: "value_utf8", type: "raw", sql: "cast(t.value as text)" },
    { name: "value", type: "bin", sql: "t.value", length: "value_length" },
    { name: "value_length", type: "u64", sql: "t.size" },
  ],
};

const inbox: Table = {
  name: "sys_inbox",
  kind: "BASE TABLE",
  from: "inbox as t",
  keys: ["t.object", "t.seq"],
  ids: "id",
  seek: seekObject("inbox", byServiceKey),
  columns: [
    { name: "partition_key", type: "key", sql: partitionKeyOf("t.id") },
    text("service_name", serviceOf("t.object")),
    text("service_key", keyOf("t.object")),
    { name: "id", type: "str", sql: "t.id", notNull: true },
    { name: "sequence_number", type: "u64", sql: "t.seq", notNull: true },
    {
      name: "created_at",
      type: "ts",
      sql: "(select i.created_at from invocation as i where i.id = t.id)",
    },
    scope,
  ],
};

const keyedServiceStatus: Table = {
  name: "sys_keyed_service_status",
  kind: "BASE TABLE",
  from: "lock as t",
  keys: ["t.object"],
  ids: "invocation_id",
  seek: seekObject("lock", byServiceKey),
  columns: [
    { name: "partition_key", type: "key", sql: partitionKeyOf("t.holder") },
    text("service_name", serviceOf("t.object")),
    text("service_key", keyOf("t.object")),
    text("invocation_id", "t.holder"),
    scope,
  ],
};

const locks: Table = {
  name: "sys_locks",
  kind: "BASE TABLE",
  from: "lock as t",
  keys: ["t.object"],
  columns: [
    { name: "partition_key", type: "key", sql: partitionKeyOf("t.holder") },
    scope,
    text("lock_name", lockNameOf("t.object")),
    {
      name: "acquired_at",
      type: "ts",
      sql: `(select ${acquiredAt} from invocation as i where i.id = t.holder)`,
    },
    text("acquired_by", "t.holder"),
  ],
};

const promise: Table = {
  name: "sys_promise",
  kind: "BASE TABLE",
  from: "whole_promise as t",
  keys: ["t.object", "t.name"],
  seek: seekObject("promise", byServiceKey),
  columns: [
    noPartitionKey,
    scope,
    text("service_name", serviceOf("t.object")),
    text("service_key", "t.key"),
    { name: "key", type: "str", sql: "t.name", notNull: true },
    { name: "completed", type: "bool", sql: "t.result is not null" },
    { name: "completion_success_value", type: "bin", sql: "t.value" },
    { name: "completion_success_value_utf8", type: "raw", sql: "cast(t.value as text)" },
    text(
      "completion_failure",
      `case t.result when 'failure' then ${
        failureText(
          "(t.body ->> '$.result.failure.code')",
          "(t.body ->> '$.result.failure.message')",
        )
      } end`,
    ),
  ],
};

/** State, queues, locks and promises (docs/spec/queries.md#tables). */
export const objectTables: readonly Table[] = [
  state,
  inbox,
  keyedServiceStatus,
  locks,
  promise,
];
