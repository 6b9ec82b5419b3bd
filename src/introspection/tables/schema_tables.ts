import type { Table, TableColumn } from "./table.ts";

const text = (name: string, sql: string): TableColumn => ({ name, type: "str", sql });

const deployment: Table = {
  name: "sys_deployment",
  kind: "BASE TABLE",
  from: "deployment as t",
  keys: ["t.id"],
  isShared: true,
  columns: [
    { name: "id", type: "str", sql: "t.id", notNull: true },
    {
      ...text("ty", "iif(substr(t.body ->> '$.uri', 1, 4) = 'arn:', 'lambda', 'http')"),
      values: ["http", "lambda"],
    },
    text("endpoint", "t.body ->> '$.uri'"),
    { name: "created_at", type: "ts", sql: "t.body ->> '$.createdAt'" },
    { name: "min_service_protocol_version", type: "u32", sql: "t.body ->> '$.minProtocol'" },
    { name: "max_service_protocol_version", type: "u32", sql: "t.body ->> '$.maxProtocol'" },
    {
      name: "services",
      type: "strs",
      sql: "(select json_group_array(s.value ->> '$.name') " +
        "from json_each(t.body, '$.services') as s)",
    },
    {
      name: "paused",
      type: "bool",
      sql: "exists (select 1 from control as k where k.kind = 'deployment' and k.name = t.id)",
    },
  ],
};

/** `max` picks the row that its group's other columns come from: the latest revision. */
const LATEST =
  `(select s.value ->> '$.name' as name, s.value as body, d.id as deployment, max(s.value ->> '$.revision')
  from deployment as d, json_each(d.body, '$.services') as s
  group by s.value ->> '$.name')`;

/**
 * The deployment that a service runs on by default. `service`: its name, SQL. All of them are found once
 * for a statement, as the subquery depends on no row.
 */
export function latestDeployment(service: string): string {
  return `((select json_group_object(l.name, l.deployment) from ${LATEST} as l)
    ->> ('$."' || ${service} || '"'))`;
}

/** Something that operators have set of a service `t`. `value`: SQL of the control's body `k.body`. */
const ofControl = (value: string) =>
  `(select ${value} from control as k where k.kind = 'service' and k.name = t.body ->> '$.name')`;
const ofLimit = (path: string) => ofControl(`k.body ->> '$.limits.${path}'`);

/** The limits of handlers, by name, as JSON without what is not set. Null: there are none. */
const HANDLER_LIMITS = ofControl(
  `(select nullif(json_patch('{}', json_group_object(h.key, json_object(
  'concurrency', h.value ->> '$.concurrency',
  'rate_count', h.value ->> '$.rate.count', 'rate_period_ms', h.value ->> '$.rate.periodMs',
  'rate_burst', h.value ->> '$.rate.burst'))),
  '{}') from json_each(k.body, '$.handlers') as h)`,
);

const service: Table = {
  name: "sys_service",
  kind: "BASE TABLE",
  from: `${LATEST} as t`,
  keys: ["t.body ->> '$.name'"],
  isShared: true,
  columns: [
    text("name", "t.body ->> '$.name'"),
    { name: "revision", type: "u64", sql: "t.body ->> '$.revision'" },
    { name: "public", type: "bool", sql: "t.body ->> '$.public'" },
    { ...text("ty", "t.body ->> '$.type'"), values: ["service", "virtual_object", "workflow"] },
    text("deployment_id", "t.deployment"),
    { name: "paused", type: "bool", sql: `coalesce(${ofControl("k.body ->> '$.paused'")}, 0)` },
    { name: "concurrency", type: "u32", sql: ofLimit("concurrency") },
    { name: "rate_count", type: "u32", sql: ofLimit("rate.count") },
    { name: "rate_period", type: "dur", sql: ofLimit("rate.periodMs") },
    { name: "rate_burst", type: "u32", sql: ofLimit("rate.burst") },
    text("handler_limits", HANDLER_LIMITS),
  ],
};

const ofRule = (name: string, type: TableColumn["type"], path: string): TableColumn => ({
  name,
  type,
  sql: `t.body ->> '$.${path}'`,
});

const rules: Table = {
  name: "sys_rules",
  kind: "BASE TABLE",
  from: "rule as t",
  keys: ["t.pattern"],
  isShared: true,
  columns: [
    { name: "pattern", type: "str", sql: "t.pattern", notNull: true },
    ofRule("concurrency", "u32", "limits.concurrency"),
    ofRule("description", "str", "description"),
    ofRule("disabled", "bool", "disabled"),
    ofRule("version", "u32", "version"),
    ofRule("last_modified", "ts", "modifiedAt"),
    ofRule("rate_count", "u32", "limits.rate.count"),
    ofRule("rate_period", "dur", "limits.rate.periodMs"),
    ofRule("rate_burst", "u32", "limits.rate.burst"),
  ],
};

/**
 * What is registered, only the latest revision of a service, and the rule book
 * (docs/spec/queries.md#tables).
 */
export const schemaTables: readonly Table[] = [deployment, service, rules];
