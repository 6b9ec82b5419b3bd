import { queueIdOf } from "./queue_id.ts";
import { body, NOW, type Part, partitionKeyOf } from "./table.ts";

// Groups of stored invocations, called `t`, by their virtual queues. Parts of a name that are not there
// are empty texts, so that they can be keys.

/** What a virtual queue is called in parts. `object_key`: a slash and the key, or nothing. */
export const QUEUE_KEYS: readonly string[] = ["service", "object_key", "scope", "limit_key"];

/** These of a stored invocation. */
export const QUEUE_OF = `t.service as service, coalesce('/' || t.key, '') as object_key,
  coalesce(${body("target.scope")}, '') as scope, coalesce(${body("limitKey")}, '') as limit_key`;

/** These of a part, with null for what is not there. */
export const MERGED_QUEUE = `t.service as service, nullif(t.object_key, '') as object_key,
  nullif(t.scope, '') as scope, nullif(t.limit_key, '') as limit_key`;

/** The id of a virtual queue `t` with the names of `MERGED_QUEUE`. */
export const QUEUE_ID = queueIdOf({
  service: "t.service",
  scope: "t.scope",
  limitKey: "t.limit_key",
  key: "substr(t.object_key, 2)",
});

/** `Service/key` of such a queue. Null: it is not the queue of an object. */
export const LOCK_NAME = "t.service || t.object_key";

/** Its partition key, by one of its invocations. Null: it is in all partitions. */
export const PARTITION_KEY = `case when t.scope is not null or t.object_key is not null
  then ${partitionKeyOf("t.some_id")} end`;

/** What operators have set of services, deployments and queues. */
export const CONTROLS: Part = {
  name: "control",
  from: "control as t",
  columns: ["kind", "name", "body"],
  keys: ["kind", "name"],
  isShared: true,
};

/**
 * SQL of the tokens that a row `b` of `bucket` has now, which stores millionths of them
 * (`engine/flow/bucket.ts`). `count` and `period`: SQL of its rate.
 */
export function tokensNow(count: string, period: string): string {
  return `b.tokens / 1000000.0 + max(0, ${NOW} - b.at) * 1.0 * ${count} / ${period}`;
}

/** What is registered, for which deployment of a service is the latest. */
export const DEPLOYMENTS: Part = {
  name: "deployment",
  from: "deployment as t",
  columns: ["id", "body"],
  keys: ["id"],
  isShared: true,
};

/** The rule book. */
export const RULES: Part = {
  name: "rule",
  from: "rule as t",
  columns: ["pattern", "body"],
  keys: ["pattern"],
  isShared: true,
};

/** Token buckets that are not full. */
export const BUCKETS: Part = {
  name: "bucket",
  from: "bucket as t",
  columns: ["counter", "tokens", "at"],
  keys: ["counter"],
};
