import { afterAll, beforeAll, expect, test } from "vitest";
import type { Introspection } from "../../src/query_port.ts";
import { openSmall, rowsOf, type Small } from "./_small.ts";

let small: Small;
let introspection: Introspection;

beforeAll(async () => {
  small = await openSmall(1);
  introspection = small.introspection();
}, 30_000);

afterAll(async () => await small?.close());

test.each([
  ["select id from sys_invocation_status order by created_at desc limit 250", "invocation_created"],
  [
    "select count(*) from sys_invocation_status where created_at > now() - interval '1 hour'",
    "invocation_created",
  ],
  // Not by reading and sorting all rows: those of one service need not be few.
  [
    "select id from sys_invocation where target_service_name in ('a') order by created_at desc, id limit 9",
    "SCAN t USING INDEX invocation_created",
  ],
  [
    "select id from sys_invocation where status = 'running' and target_service_name = 'a' " +
    "order by created_at desc limit 9",
    "invocation_open",
  ],
  [
    "select id from sys_invocation where created_at > now() - interval '1 hour' and target = 'a' " +
    "order by created_at desc limit 9",
    "(created_at>?)",
  ],
  ["select id from sys_invocation where status in ('running', 'backing-off')", "invocation_open"],
  ["select id from sys_invocation_state where in_flight", "invocation_open"],
  ["select count(*) from sys_invocation_status where status <> 'completed'", "invocation_open"],
  ["select id from sys_invocation where status not in ('completed', 'paused')", "invocation_open"],
  ["select * from sys_invocation where id = 'inv_1gdJBtdVEcM90b5Gp4Dz0OdFxN5yXW4Bpx'", "(id=?)"],
])("%s is answered from an index", async (sql, index) => {
  const rows = await rowsOf(introspection, `explain ${sql}`).catch((cause) => {
    throw new Error(`${sql}: ${cause.message}`);
  }) as { readonly plan: string }[];
  expect(rows).toHaveLength(1);
  expect(rows[0]?.plan).toContain(index);
});
