import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { type Filled, post, startFilled } from "./_filled.ts";

const PAGE = readFileSync(path.join(import.meta.dirname, "../../docs/sql.md"), "utf8");
/** What a question asks, and its statement. */
const QUESTIONS = [...PAGE.matchAll(/^(.+?\?)[^]*?```sql\n([^]*?)```/gm)]
  .map(([, question, statement]) => [question!.split("\n").at(-1)!, statement!] as const);

describe("what docs/sql.md says", () => {
  let filled: Filled;
  /** Ids by target. */
  let ids: ReadonlyMap<string, string>;
  beforeAll(async () => {
    filled = await startFilled();
    for (const handler of ["hold", "add"]) {
      await post(`${filled.ingress}/svc/send/Cart/alice/${handler}`, 1);
    }
    await until("a call to wait for the object", async () => {
      const waiting = await filled.rows("SELECT id FROM sys_inbox WHERE service_key = 'alice'");
      return waiting.length === 1;
    });
    const rows = await filled.rows("SELECT target, id FROM sys_invocation");
    ids = new Map(rows.map(({ target, id }) => [String(target), String(id)]));
  }, 60_000);
  afterAll(async () => await filled?.close());

  test("it answers ten questions and more", () => {
    expect(QUESTIONS.length).toBeGreaterThanOrEqual(10);
  });

  test.each(QUESTIONS)("%s", async (_, statement) => {
    const id = ids.get("Greeter/flaky") ?? "";
    const answer = await filled.ask(statement.replace("inv_1…", id), "application/json");
    const { rows, warnings } = await answer.json();
    expect(rows.length, JSON.stringify(rows)).toBeGreaterThan(0);
    expect([warnings, answer.headers.get("x-svc-warning")]).toEqual([undefined, null]);
  });

  test("it shows the warning about a constant as it is given", async () => {
    const statement = "SELECT id FROM sys_invocation WHERE completion_result = 'failed'";
    const answer = await filled.ask(statement, "application/json");
    const [shown = ""] = /\{\s+"rows": \[\][^]*?\n\}/.exec(PAGE) ?? [];
    expect(await answer.json()).toEqual(JSON.parse(shown));
  });
});
