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
const LATEST = `(select s.value as body, d.id as deployment, max(s.value ->> '$.revision')
  from deployment as d, json_each(d.body, '$.services') as s
  group by s.value ->> '$.name')`;

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

/** What is registered: only the latest revision of a service (docs/spec/queries.md#tables). */
export const schemaTables: readonly Table[] = [deployment, service];
