import { tableFromIPC } from "apache-arrow";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Introspection } from "../../src/query_port.ts";
import { FLOW_CONTROL } from "../protocol/_scoped.ts";
import { until } from "../support/child.ts";
import { hasReference, startTarget, type Target } from "../protocol/_target.ts";
import { asking as askingServer, type Filled } from "./_filled.ts";
import { flowStatements } from "./_flow_statements.ts";
import { Stored } from "./_queued.ts";
import { Asking, Files, inFile } from "./_united.ts";

const TABLES = [
  "sys_user_limits",
  "sys_scheduler",
  "sys_vqueues",
  "sys_vqueue_entry_status",
  "sys_vqueue_meta",
  "sys_locks",
  "sys_inbox",
  "sys_keyed_service_status",
  "sys_invocation",
  "sys_invocation_status",
  "state",
  "sys_promise",
];

describe.skipIf(!hasReference())("with flow control at the reference", () => {
  const files = new Files();
  const asking = new Asking();
  let target: Target;
  let theirs: Filled;
  let ours: Introspection;

  beforeAll(async () => {
    target = await startTarget(FLOW_CONTROL, "reference");
    theirs = askingServer(target.admin, async () => {});
    // Its partitions start after it does.
    await until("its tables to be there", async () => {
      return (await theirs.ask("select * from sys_scheduler")).status === 200;
    });
    ours = asking.open([inFile(await files.make("some.db", new Stored().rows()))]);
  }, 60_000);
  afterAll(async () => {
    await target?.close();
    await asking.close();
    await files.close();
  });

  /** Names and types of the columns of an answer in Arrow. */
  async function columnsOf(of: "ours" | "theirs", sql: string): Promise<string[]> {
    const answer = of === "ours"
      ? new Response(await ours.query({ sql, format: "arrow", version: "1", running: [] }))
      : await theirs.ask(sql);
    expect(answer.status, sql).toBe(200);
    const { schema } = tableFromIPC(new Uint8Array(await answer.arrayBuffer()));
    return schema.fields.map(({ name, type }) => `${name} ${type}`);
  }

  test.each(TABLES)("the columns of %s begin with those of the reference", async (table) => {
    const sql = `select * from ${table}`;
    const known = (await columnsOf("theirs", sql)).map(renamed);
    expect((await columnsOf("ours", sql)).map(renamed).slice(0, known.length)).toEqual(known);
  });

  test.each(flowStatements.filter((sql) => !/SELECT \*/.test(sql)))(
    "the answer has the same columns and types: %s",
    async (sql) => {
      expect(await columnsOf("ours", sql)).toEqual(await columnsOf("theirs", sql));
    },
  );
});

/** Columns with the maker's name are called otherwise. */
function renamed(column: string): string {
  return column.replace(/created_using_\w+_version/, "created_using_version");
}
