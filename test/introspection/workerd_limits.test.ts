import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { workOf } from "../../src/introspection/direct/plan_work.ts";
import { startWorkerd, type WorkerdServer } from "../workerd/_server.ts";
import { asking, type Filled } from "./_filled.ts";

const WIDE = Array.from({ length: 12 }, (_, i) => `a.column_name || b.column_name as c${i}`);
/** Some ten thousand rows, which come one after the other. */
const LONG =
  `select ${WIDE.join()} from information_schema.columns a, information_schema.columns b`;

const started: WorkerdServer[] = [];
let patient: Filled, strict: Filled, hasty: Filled;

async function start(settings: Readonly<Record<string, string>> = {}): Promise<Filled> {
  const server = await startWorkerd({ settings });
  started.push(server);
  return asking(server.admin, async () => {});
}

beforeAll(async () => {
  [patient, strict, hasty] = await Promise.all([
    start({ ADMIN__QUERY_ENGINE__RESULT_SIZE: "64MiB" }),
    start({ ADMIN__QUERY_ENGINE__ROWS: "1000", ADMIN__QUERY_ENGINE__RESULT_SIZE: "64KiB" }),
    start({ ADMIN__QUERY_ENGINE__TIMEOUT: "50ms", ADMIN__QUERY_ENGINE__RESULT_SIZE: "64MiB" }),
  ]);
}, 60_000);
afterAll(() => Promise.all(started.map((one) => one.close())));

async function refusal(by: Filled, sql: string): Promise<string> {
  const answer = await by.ask(sql, "application/json");
  const { message, svc_code } = await answer.json() as Record<string, unknown>;
  expect([answer.status, svc_code], sql).toEqual([500, null]);
  return String(message);
}

describe("on workerd, where there is no thread for it, a query", () => {
  test("lets others have their turn", async () => {
    let isDone = false;
    const [server] = started;
    const long = patient.ask(LONG, "application/json").finally(() => isDone = true);
    let others = 0;
    while (!isDone) {
      const { status } = await fetch(`${server?.admin}/deployments`);
      expect(status).toBe(200);
      if (!isDone) others++;
    }
    const { rows } = await (await long).json() as { readonly rows: unknown[] };
    expect(rows.length).toBeGreaterThan(10_000);
    expect(others).toBeGreaterThan(2);
  }, 30_000);

  test("is refused when it would delay other work for long", async () => {
    const tables = "information_schema.tables";
    const heavy = `select count(*) from ${tables} a, ${tables} b, ${tables} c, ${tables} d
      where a.table_name || b.table_name || c.table_name || d.table_name = 'x'`;
    expect(await refusal(patient, heavy)).toContain("too many rows without a pause");
  });

  test("has no more rows than are allowed", async () => {
    expect(await refusal(strict, `${LONG} limit 1001`)).toMatch(/more than 1000 rows|larger than/);
    const few = "select column_name from information_schema.columns limit 10";
    expect(await strict.rows(few)).toHaveLength(10);
  });

  test("is no larger than is allowed", async () => {
    expect(await refusal(strict, `${LONG} limit 900`))
      .toContain("its result is larger than 65536 bytes");
  });

  test("takes no longer than is allowed", async () => {
    expect(await refusal(hasty, LONG)).toContain("it took more than 50 ms");
    expect(await hasty.rows("select 1 as one")).toEqual([{ one: 1 }]);
  });

  test("is one of many that wait for each other", async () => {
    const sql = "select count(*) as n from sys_invocation";
    const answers = await Promise.all(Array.from({ length: 10 }, () => patient.rows(sql)));
    expect(answers.flat()).toEqual(Array.from({ length: 10 }, () => ({ n: 0 })));
    const concurrent = await Promise.all(
      Array.from({ length: 60 }, () => patient.ask(`${LONG} limit 1500`)),
    );
    const statuses = new Set(concurrent.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 429]);
    const refused = concurrent.find(({ status }) => status === 429);
    expect(refused?.headers.get("retry-after")).toBe("1");
    await Promise.all(concurrent.map((answer) => answer.arrayBuffer()));
  }, 30_000);
});

test.each([
  [["SCAN t"], 1000],
  [["SEARCH t USING INDEX sqlite_autoindex_invocation_1 (id=?)"], 1],
  [["SCAN t", "SEARCH t USING INDEX sqlite_autoindex_invocation_1 (id=?) LEFT-JOIN"], 1000],
  [["SCAN t", "SEARCH t USING AUTOMATIC COVERING INDEX (status=?)"], 4000],
  [["SCAN t", "SCAN t"], 1_000_000],
  [["SCAN t", "SCAN CONSTANT ROW"], 1000],
  [["SCAN t", "SCAN t VIRTUAL TABLE INDEX 1:"], 1_000_000],
  [["SCAN t", "SCAN e VIRTUAL TABLE INDEX 1:"], 4000],
])("the work of %j is told from the plan", (details, work) => {
  const plan = details.map((detail, i) => ({ id: i + 1, parent: 0, detail }));
  expect(workOf(plan, () => 1000)).toBe(work);
});

test("a subquery for each row multiplies, one for all of them does not", () => {
  const plan = (word: string) => [
    { id: 2, parent: 0, detail: "SCAN t" },
    { id: 6, parent: 0, detail: `${word}SCALAR SUBQUERY 1` },
    { id: 11, parent: 6, detail: "SCAN t" },
  ];
  expect(workOf(plan("CORRELATED "), () => 1000)).toBe(1_001_000);
  expect(workOf(plan(""), () => 1000)).toBe(2000);
});

test("a subquery that is scanned has as many rows as it answers", () => {
  const plan = [
    { id: 2, parent: 0, detail: "MATERIALIZE p" },
    { id: 3, parent: 2, detail: "SCAN t" },
    { id: 4, parent: 2, detail: "SCAN CONSTANT ROW" },
    { id: 6, parent: 0, detail: "SCAN p" },
    { id: 7, parent: 0, detail: "SCAN p" },
  ];
  expect(workOf(plan, () => 100)).toBe(100 + 100 * 100);
});

test("what an index is made of is read once, also for each of many rows", () => {
  const plan = (search: string) => [
    { id: 1, parent: 0, detail: "SCAN t" },
    { id: 2, parent: 0, detail: "CORRELATED SCALAR SUBQUERY 1" },
    { id: 3, parent: 2, detail: "CO-ROUTINE p" },
    { id: 4, parent: 3, detail: "SCAN t" },
    { id: 5, parent: 2, detail: search },
  ];
  expect(workOf(plan("SEARCH p USING AUTOMATIC COVERING INDEX (id=?)"), () => 1000)).toBe(6000);
  expect(workOf(plan("SCAN p"), () => 1000)).toBe(2_001_000);
});

test("a recursion has a number of steps", () => {
  const plan = [
    { id: 1, parent: 0, detail: "CO-ROUTINE q" },
    { id: 2, parent: 1, detail: "SETUP" },
    { id: 3, parent: 2, detail: "SCAN CONSTANT ROW" },
    { id: 4, parent: 1, detail: "RECURSIVE STEP" },
    { id: 5, parent: 4, detail: "SCAN q" },
    { id: 6, parent: 0, detail: "SCAN q" },
  ];
  const steps = workOf(plan, () => 1000);
  expect(steps).toBeGreaterThan(30);
  expect(steps).toBeLessThan(100);
});
