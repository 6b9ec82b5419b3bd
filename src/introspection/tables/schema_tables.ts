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
