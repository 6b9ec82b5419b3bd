import type { Table } from "./table.ts";

/** What clients did through the admin API (docs/security.md#audit). */
export const auditTable: Table = {
  name: "sys_audit",
  kind: "BASE TABLE",
  from: "audit as t",
  keys: ["t.id"],
  isShared: true,
  columns: [
    { name: "id", type: "str", sql: "t.id", notNull: true },
    { name: "created_at", type: "ts", sql: "t.body ->> '$.at'" },
    { name: "identity", type: "str", sql: "t.body ->> '$.identity'" },
    { name: "method", type: "str", sql: "t.body ->> '$.method'" },
    { name: "route", type: "str", sql: "t.body ->> '$.route'" },
    { name: "target", type: "str", sql: "t.body -> '$.target'" },
    { name: "status", type: "u32", sql: "t.body ->> '$.status'" },
    { name: "remote_address", type: "str", sql: "t.body ->> '$.remoteAddress'" },
    { name: "omitted", type: "u32", sql: "coalesce(t.body ->> '$.omitted', 0)" },
  ],
};
