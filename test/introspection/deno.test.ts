import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Filled, startFilled } from "./_filled.ts";
import { objectStatements, otherStatements } from "./_statements.ts";

let filled: Filled;

beforeAll(async () => {
  filled = await startFilled("deno");
}, 60_000);

afterAll(async () => await filled?.close());

test("queries are answered on Deno, from TypeScript as it stands", async () => {
  for (const statement of [...objectStatements, ...otherStatements]) {
    const rows = await filled.rows(statement);
    const answer = await filled.ask(statement);
    const table = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
    expect(table.numRows, statement).toBe(rows.length);
  }
  const [entry] = await filled.rows(
    "SELECT entry_json FROM sys_journal WHERE entry_type = 'Command: Sleep' LIMIT 1",
  );
  expect(entry?.["entry_json"]).toMatch(/^\{"Command":\{"Sleep":\{"wake_up_time":\d+,/);
});

test("a query that takes too long is stopped on Deno, too", async () => {
  const heavy = await filled.ask(
    `SELECT count(*) FROM information_schema.columns a, information_schema.columns b,
      information_schema.columns c, information_schema.columns d
      WHERE a.column_name || b.column_name || c.column_name || d.column_name = 'x'`,
    "application/json",
  );
  expect(heavy.status).toBe(500);
  expect(await heavy.json())
    .toMatchObject({ message: expect.stringContaining("took more than"), svc_code: null });
}, 60_000);
