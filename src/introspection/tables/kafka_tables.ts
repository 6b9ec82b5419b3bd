import { REDACTED, SECRET_PARTS } from "../../kafka/options.ts";
import { GONE, GONE_MS, LOST } from "../../kafka/status.ts";
import { CONTROLS } from "./queue_parts.ts";
import { NOW, type Part, PARTS, quoteText, type Table, type TableColumn } from "./table.ts";

const column = (name: string, type: TableColumn["type"], sql = `t.${name}`): TableColumn => ({
  name,
  type,
  sql,
});

/** What sidecars have reported last. */
const REPORTS: Part = {
  name: "kafka_report",
  from: "kafka_report as t",
  columns: ["member", "subscription", "at", "body"],
  keys: ["member", "subscription"],
  isShared: true,
};

const IS_SECRET = SECRET_PARTS.map((part) => `instr(lower(o.key), ${quoteText(part)}) > 0`)
  .join(" or ");

/** Options at a path of a document, without secrets. */
function optionsOf(body: string, path: string): string {
  return `(select json_group_object(o.key, iif(${IS_SECRET}, ${quoteText(REDACTED)}, o.value))
    from json_each(${body}, '$.${path}') as o)`;
}

/** The two parts of an address: what stands between its scheme and the next slash, and what follows. */
function partsOf(address: string, scheme: string): readonly [string, string] {
  const rest = `substr(${address}, ${scheme.length + 1})`;
  const slash = `instr(${rest}, '/')`;
  return [`substr(${rest}, 1, ${slash} - 1)`, `substr(${rest}, ${slash} + 1)`];
}

const [CLUSTER, TOPIC] = partsOf("t.source", "kafka://");
const [SERVICE, HANDLER] = partsOf("t.sink", "service://");

/** Subscriptions, and what sidecars report of them; with the rules of `kafka/status.ts`. */
const TERMS = `subscribed as (select c.name as id, c.body ->> '$.source' as source,
    c.body ->> '$.sink' as sink, c.body, coalesce(c.body ->> '$.paused', 0) as paused,
    c.body ->> '$.createdAt' as created_at
    from control as c where c.kind = 'subscription' and c.body ->> '$.isLeaving' is null),
  told as materialized (select r.subscription, r.member, m.at, r.body,
    m.at > ${NOW} - ${GONE_MS} as living, r.body ->> '$.state' as state
    from kafka_report as r join kafka_report as m on m.member = r.member and m.subscription = ''
    where r.subscription <> ''),
  heard as materialized (select t.subscription, max(t.at) as at, max(t.living) as living,
    max(t.living and t.state = 'blocked') as blocked,
    max(t.living and t.state = 'failing') as failing,
    max(t.living and t.state = 'running') as running from told as t group by 1)`;

/** Of two rows with the same maximum any is taken. */
const ERRORS = `select t.subscription, t.body ->> '$.lastError.message' as message,
  max(t.body ->> '$.lastError.at') as at from told as t
  where t.body ->> '$.lastError.at' is not null group by 1`;

const STATE = `case when t.paused then 'paused' when t.is_lost then 'failing'
  when t.living then case when t.blocked then 'blocked' when t.failing then 'failing'
  when t.running then 'running' else 'starting' end
  when t.heard_at is null and t.created_at > ${NOW} - ${GONE_MS} then 'starting'
  else 'failing' end`;

const IS_GONE = `not coalesce(t.living, 0)
  and (t.heard_at is not null or t.created_at <= ${NOW} - ${GONE_MS})`;

/** An error that this server knows without a sidecar, or else what is reported. */
function lastError(lost: string, gone: string, reported: string): string {
  return `case when t.paused then ${reported} when t.is_lost then ${lost}
    when ${IS_GONE} then ${gone} else ${reported} end`;
}

const HEARD_AT = "max(t.created_at, coalesce(t.heard_at, 0))";

const cluster: Table = {
  name: "sys_kafka_cluster",
  kind: "BASE TABLE",
  from: `(with ${PARTS}clusters as (select c.name, c.body from control as c
    where c.kind = 'kafka_cluster') select * from clusters) as t`,
  parts: [CONTROLS],
  columns: [
    { ...column("name", "str"), notNull: true },
    column("properties", "str", optionsOf("t.body", "properties")),
    column("created_at", "ts", "t.body ->> '$.createdAt'"),
  ],
};

const subscription: Table = {
  name: "sys_subscription",
  kind: "BASE TABLE",
  from: `(with ${PARTS}${TERMS}, errors as (${ERRORS})
    select t.*, h.at as heard_at, h.living, h.blocked, h.failing, h.running,
    e.message as error, e.at as error_at,
    not exists (select 1 from control as c where c.kind = 'kafka_cluster' and c.name = ${CLUSTER})
      as is_lost
    from subscribed as t left join heard as h on h.subscription = t.id
    left join errors as e on e.subscription = t.id) as t`,
  parts: [CONTROLS, REPORTS],
  columns: [
    { ...column("id", "str"), notNull: true },
    column("source", "str"),
    column("sink", "str"),
    column("cluster", "str", CLUSTER),
    column("topic", "str", TOPIC),
    column("service_name", "str", SERVICE),
    column("handler_name", "str", HANDLER),
    column("group_id", "str", `t.body ->> '$.options."group.id"'`),
    column("options", "str", optionsOf("t.body", "options")),
    column("paused", "bool"),
    {
      ...column("state", "str", STATE),
      values: ["starting", "running", "paused", "blocked", "failing"],
    },
    column("last_error", "str", lastError(quoteText(LOST), quoteText(GONE), "t.error")),
    column("last_error_at", "ts", lastError(HEARD_AT, HEARD_AT, "t.error_at")),
    column("created_at", "ts"),
  ],
};

const partition: Table = {
  name: "sys_subscription_partition",
  kind: "BASE TABLE",
  // While a partition moves, two sidecars report it: the last one counts.
  from: `(with ${PARTS}${TERMS} select t.subscription, t.member, max(t.at) as at,
    p.value ->> '$.topic' as topic, p.value ->> '$.partition' as partition, p.value as body
    from told as t join subscribed as s on s.id = t.subscription
    left join heard as h on h.subscription = t.subscription,
    json_each(t.body, '$.partitions') as p
    where t.living or not h.living group by 1, 4, 5) as t`,
  parts: [CONTROLS, REPORTS],
  columns: [
    { ...column("subscription_id", "str", "t.subscription"), notNull: true },
    column("topic", "str"),
    column("partition", "u32"),
    column("position", "u64", "t.body ->> '$.position'"),
    column("end_offset", "u64", "t.body ->> '$.end'"),
    column("lag", "u64", "max(0, (t.body ->> '$.end') - (t.body ->> '$.position'))"),
    {
      ...column("stopped_by", "str", "t.body ->> '$.stoppedBy.kind'"),
      values: ["poison", "inbox"],
    },
    column("stopped_message", "str", "t.body ->> '$.stoppedBy.message'"),
    column("sidecar", "str", "t.member"),
    column("reported_at", "ts", "t.at"),
  ],
};

/** Kafka: clusters, subscriptions, and the partitions of topics that sidecars read (docs/kafka.md). */
export const kafkaTables: readonly Table[] = [cluster, subscription, partition];
