import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import type { Introspection } from "../../src/query_port.ts";
import { answerOf, LIMITS, openSmall, rowsOf, type Small } from "./_small.ts";

const ROWS = 2000;
let small: Small;
let introspection: Introspection;

beforeAll(async () => {
  small = await openSmall(ROWS);
  introspection = small.introspection();
}, 30_000);

afterAll(async () => await small?.close());

/** A text twice as long in each of so many subqueries. */
function doubling(twice: string, count: number): string {
  let tables = "t0 as (select 'xx' as x from state limit 1)";
  for (let i = 1; i <= count; i++) tables += `, t${i} as (select ${twice} as x from t${i - 1})`;
  return `with ${tables} select length(x) as n from t${count}`;
}

/** Rejects with this status and a message like this. */
async function refusal(sql: string, by = introspection): Promise<Failure> {
  const cause = await answerOf(by, sql).then(() => undefined, (cause) => cause);
  expect(cause, sql).toBeInstanceOf(Failure);
  return cause as Failure;
}

describe("nothing but questions is let through", () => {
  test.each([
    "insert into state values (1)",
    "update state set key = 'x'",
    "delete from state",
    "drop table state",
    "create table x as select 1",
    "select * into x from state",
    "with a as (delete from state returning 1) select * from a",
    "attach 'other.db' as other",
    "pragma writable_schema = 1",
    "vacuum into 'x'",
    "begin",
    "set x = 1",
    "copy state to 'x'",
    "explain delete from state",
    "select load_extension('x')",
    "select writefile('x', 'y'), readfile('x')",
    "select zeroblob(1000000000)",
    "select randomblob(1000000000)",
    "select printf('%999999999d', 1)",
    "select * from pragma_table_info('state')",
    "select * from json_each('[1]')",
    "select sqlite_version()",
    "select * from generate_series(1, 10)",
    "select 1 from state for update",
    "select group_concat(key) from state",
    "with recursive n as (select 1 x union all select x + 1 from n) select * from n",
  ])("%s is refused with 400", async (sql) => {
    expect((await refusal(sql)).status).toBe(400);
    expect(await small.isWhole()).toBe(true);
  });

  test.each([
    "select * from sqlite_master",
    "select * from sqlite_schema",
    "select * from store.state",
    "select * from main.result",
    "select * from invocation",
    "select * from log",
    "select rowid from state",
    "select object from state",
    "select t.object from state",
    "select c0 from state",
    "select 1; drop table state",
    "select * from sys_invocation where id = 'inv_x'",
    "select key from state limit -1",
  ])("%s does not fit the tables and is refused with 400", async (sql) => {
    expect((await refusal(sql)).status).toBe(400);
  });

  test("a name that is misspelled is refused with the one that was probably meant", async () => {
    const message = async (sql: string) => (await refusal(sql)).message;
    expect(await message("select completion_reslt from sys_invocation")).toMatch(
      /no column "completion_reslt", did you mean "completion_result"; there are sys_invocation.id,/,
    );
    expect(await message("select s.kye from state s, sys_promise p"))
      .toMatch(/no column "s.kye", did you mean "s.key"; there are s\.\w+, .*p\.\w+/);
    expect(await message("select id from sys_invocaton")).toBe(
      'Cannot run the query: there is no table "sys_invocaton", did you mean "sys_invocation"; ' +
        "SHOW TABLES lists them",
    );
    expect(await message("describe sate")).toContain('did you mean "state"');
  });
});

describe("what a stranger writes stays data", () => {
  test.each([
    ["a quote", "x' or '1'='1"],
    ["a comment", "x'; drop table state; --"],
    ["NUL", "a\0b"],
    ["a lone surrogate", "a\ud800b"],
    ["all planes", "é€😀\ue000\u0001"],
  ])("in a text: %s", async (_, text) => {
    const sql = `select '${text.replaceAll("'", "''")}' as t, 1 as "${text.replaceAll('"', '""')}"`;
    const [row] = await rowsOf(introspection, sql) as [Record<string, unknown>];
    expect(row["t"]).toBe(text);
    expect(row[text]).toBe(1);
  });

  test("text that is not UTF-8 ends nothing", async () => {
    const rows = await rowsOf(
      introspection,
      `select cast(x'ff' as text) as a, cast(x'c3' as text) || 'x' as b, lower(cast(x'ff00ff' as text))
        as c, max(cast(x'ed' as text)) as d, x'ff' as e, coalesce(cast(x'fe' as text), 1) as f,
        case when 1 = 1 then cast(x'ff' as text) else 'x' end as g`,
    );
    expect(rows).toMatchObject([{ a: "\ufffd", b: "\ufffdx", e: "ff" }]);
    const grouped = await rowsOf(
      introspection,
      "select cast(x'ff' as text) as k, count(*) as n from state group by k order by k",
    );
    expect(grouped).toEqual([{ k: "\ufffd", n: ROWS }]);
  });
});

test("what an inner query says of the one around it does not hold for that one", async () => {
  const sql = `select count(*) as n from state s where not exists
    (select 1 from sys_deployment d where s.service_name = 'Nobody')`;
  expect(await rowsOf(introspection, sql)).toEqual([{ n: ROWS }]);
});

describe("limits", () => {
  test("too many rows", async () => {
    const few = small.introspection({ limits: { ...LIMITS, rowsMax: 10 } });
    expect(await rowsOf(few, "select key from state limit 10")).toHaveLength(10);
    const { status, message } = await refusal("select key from state", few);
    expect({ status, message }).toMatchObject({ status: 500 });
    expect(message).toContain("more than 10 rows");
  });

  const HEAVY = `select count(*) as n from state a, state b, state c, state d
    where a.key || b.key || c.key || d.key = 'x'`;

  test("too long a time, and others go on meanwhile", async () => {
    const hasty = small.introspection({ limits: { ...LIMITS, timeMs: 600 } });
    const began = performance.now();
    const heavy = refusal(HEAVY, hasty);
    const quick = rowsOf(hasty, "select count(*) as n from state");
    expect(await quick).toEqual([{ n: ROWS }]);
    const quickMs = performance.now() - began;
    const { status, message } = await heavy;
    expect(message).toContain("it took more than 600 ms");
    expect(status).toBe(500);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(quickMs).toBeLessThan(performance.now() - began);
    // The connection serves others afterwards.
    expect(await rowsOf(hasty, "select 1 as x")).toEqual([{ x: 1 }]);
  });

  test("too much memory", async () => {
    const poor = small.introspection({ limits: { ...LIMITS, memoryBytesMax: 64 * 1024 * 1024 } });
    const { status, message } = await refusal(
      "select length(string_agg(a.key || b.key || a.key, ',')) as n from state a, state b",
      poor,
    );
    expect(message).toContain("it took more than 67108864 bytes of memory");
    expect(status).toBe(500);
    expect(await rowsOf(poor, "select 1 as x")).toEqual([{ x: 1 }]);
  }, 20_000);

  test("subqueries that multiply", async () => {
    const { status, message } = await refusal(doubling("x || x", 30));
    expect(message).toContain("multiply");
    expect(status).toBe(400);
    expect(await rowsOf(introspection, doubling("x || x", 10))).toEqual([{ n: 2048 }]);
  });

  test("too large an answer", async () => {
    const tight = small.introspection({ limits: { ...LIMITS, spoolBytesMax: 1024 * 1024 } });
    const { status, message } = await refusal(
      "select a.value, b.value from state a, state b limit 100000",
      tight,
    );
    expect(message).toContain("its result is larger than 1048576 bytes");
    expect(status).toBe(500);
    expect(await rowsOf(tight, "select count(*) as n from state")).toEqual([{ n: ROWS }]);
  });

  test("too many queries", async () => {
    const busy = small.introspection({
      queriesMax: 1,
      waitingMax: 1,
      limits: { ...LIMITS, timeMs: 500 },
    });
    const first = refusal(HEAVY, busy);
    const second = rowsOf(busy, "select 1 as x");
    const third = await refusal("select 1", busy);
    expect(third.status).toBe(429);
    await first;
    expect(await second).toEqual([{ x: 1 }]);
  });

  test("too long or too deep a statement", async () => {
    const long = `select ${"1 + ".repeat(100_000)}1`;
    expect((await refusal(long)).message).toContain("longer than");
    for (const deep of [`${"(".repeat(3000)}1${")".repeat(3000)}`, `${"- ".repeat(20_000)}1`]) {
      expect((await refusal(`select ${deep}`)).status).toBe(400);
    }
    const members = `select ${"key".concat(" ->> 'a'".repeat(40))} as x from state`;
    expect((await refusal(members)).message).toContain("too complex");
    expect(await rowsOf(introspection, "select 1 as x")).toEqual([{ x: 1 }]);
  }, 20_000);
});

describe("streams", () => {
  test("an answer comes in parts, when they are asked for", async () => {
    const sql = `select a.key as a, b.key as b, 'a text that fills the parts of the answer' as t
      from state a, state b limit 50000`;
    const stream = await introspection.query({ sql, format: "json", version: "1", running: [] });
    const sizes: number[] = [];
    let text = "";
    for await (const part of stream as unknown as AsyncIterable<Uint8Array>) {
      sizes.push(part.length);
      text += new TextDecoder().decode(part);
    }
    expect(JSON.parse(text).rows).toHaveLength(50_000);
    expect(sizes.length).toBeGreaterThan(5);
    expect(Math.max(...sizes)).toBeLessThan(2 * 1024 * 1024);
  });

  test("a caller that disconnects lets the next query run", async () => {
    const one = small.introspection({ queriesMax: 1, waitingMax: 10 });
    const sql = "select a.key, b.key as b from state a, state b limit 50000";
    for (let i = 0; i < 3; i++) {
      const stream = await one.query({ sql, format: "json", version: "1", running: [] });
      const reader = stream.getReader();
      await reader.read();
      await reader.cancel();
    }
    expect(await rowsOf(one, "select count(*) as n from state")).toEqual([{ n: ROWS }]);
  });

  test("a caller that stops reading does not delay the next query for long", async () => {
    const one = small.introspection({
      queriesMax: 1,
      waitingMax: 10,
      limits: { ...LIMITS, timeMs: 1000 },
    });
    const sql = "select a.key, b.key as b from state a, state b limit 50000";
    const stream = await one.query({ sql, format: "json", version: "1", running: [] });
    const reader = stream.getReader();
    await reader.read();
    expect(await rowsOf(one, "select 1 as x")).toEqual([{ x: 1 }]);
    await expect((async () => {
      for (let part = await reader.read(); !part.done;) part = await reader.read();
    })()).rejects.toThrow();
  });
});
