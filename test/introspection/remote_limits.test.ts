import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRemote } from "../../adapters/libsql/remote/open.ts";
import type { Failure } from "../../src/errors.ts";
import type { Introspection } from "../../src/query_port.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { Distance } from "../support/distance.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { LIMITS, rowsOf } from "./_small.ts";
import { Asking, onServer } from "./_united.ts";

const program = await sqldProgram();
const MANY = 3000;
const LARGE = 100_000;

describe.skipIf(program === undefined)("rows on a server", () => {
  let sqld: Sqld, distance: Distance;
  let delayedUrl: string;
  const asking = new Asking();

  beforeAll(async () => {
    sqld = await startSqld(program ?? "");
    distance = new Distance({ target: new URL(sqld.url), delayMs: 0 });
    delayedUrl = await distance.listen();
    const client = await openRemote({ url: sqld.url, authToken: "" });
    await migrate(client);
    const insert = "insert into state (object, name, value) select 'Many/' || ";
    const n = "(with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)";
    await client.batch("write", [
      {
        sql: `${insert} (i % 10), 'x' || i, zeroblob(10) from ${n} select i from n)`,
        args: [MANY],
      },
      {
        sql: `${insert} 'large', 'y' || i, zeroblob(?2) from ${n} select i from n)`,
        args: [40, LARGE],
      },
      { sql: `${insert} 'raw', 'not text', x'ff00ff'`, args: [] },
    ]);
  }, 60_000);
  afterAll(async () => {
    await asking.close();
    await distance?.close();
    await sqld?.close();
  });

  test("come in many pages, of large ones fewer at once", async () => {
    const by = asking.open([onServer(delayedUrl)]);
    const counted = "select count(*) as n, sum(value_length) as bytes from state";
    expect(await rowsOf(by, counted)).toEqual([{
      n: MANY + 41,
      bytes: MANY * 10 + 40 * LARGE + 3,
    }]);
    const lengths = "select sum(length(value)) as bytes from state where key_length < 8";
    expect(await rowsOf(by, lengths)).toEqual([{ bytes: MANY * 10 + 40 * LARGE }]);
    // What is no text shows none.
    expect(await rowsOf(by, "select value_utf8 as v from state where key = 'not text'"))
      .toEqual([{}]);
  }, 20_000);

  describe("is read within limits", () => {
    const refusal = async (by: Introspection, sql: string) =>
      await rowsOf(by, sql).then(() => undefined, (cause) => cause) as Failure;

    test("of the disk: what is read counts", async () => {
      const tight = asking.open([onServer(delayedUrl)], {
        limits: { ...LIMITS, spoolBytesMax: 1024 * 1024 },
      });
      const { status, message } = await refusal(tight, "select max(value_utf8) as last from state");
      expect(message).toContain("what it reads is larger than 1048576 bytes");
      expect(status).toBe(500);
      expect(await rowsOf(tight, "select count(*) as n from state where key = 'y1'"))
        .toEqual([{ n: 1 }]);
    });

    test("of rows of the answer", async () => {
      const few = asking.open([onServer(delayedUrl)], { limits: { ...LIMITS, rowsMax: 10 } });
      expect((await refusal(few, "select key from state")).message).toContain("more than 10 rows");
    });

    test("of time, also when the server says nothing", async () => {
      const hasty = asking.open([onServer(delayedUrl)], { limits: { ...LIMITS, timeMs: 2_500 } });
      expect(await rowsOf(hasty, "select count(*) as n from sys_deployment")).toEqual([{ n: 0 }]);
      distance.isCut = true;
      const { status, message } = await refusal(hasty, "select key from state");
      distance.isCut = false;
      distance.reset();
      expect([500, 503], message).toContain(status);
      expect(message).toMatch(/took more than 2500 ms|does not answer/);
      expect(await rowsOf(hasty, "select count(*) as n from sys_deployment")).toEqual([{ n: 0 }]);
    }, 20_000);
  });

  test(
    "a database that is away is a refusal, and nothing of it is said but in the log",
    async () => {
      const away = asking.open([onServer("http://127.0.0.1:9")]);
      const cause = await rowsOf(away, "select key from state").catch((cause) => cause) as Failure;
      expect([cause.status, cause.message])
        .toEqual([503, "Cannot run the query: a database does not answer"]);
      expect(JSON.stringify(asking.said)).toContain("127.0.0.1:9");
      // What needs no rows needs no database.
      expect(await rowsOf(away, "select 1 as one")).toEqual([{ one: 1 }]);
    },
    20_000,
  );

  test("a database without tables is a refusal", async () => {
    const empty = await startSqld(program ?? "");
    const by = asking.open([onServer(empty.url)]);
    const cause = await rowsOf(by, "select key from state").catch((cause) => cause) as Failure;
    await empty.close();
    expect([cause.status, cause.message])
      .toEqual([500, "Cannot run the query: a database refuses it"]);
  }, 20_000);

  test("is brought into the tables first, or the query is refused", async () => {
    let flushes = 0;
    const flushing = asking.open([onServer(delayedUrl)], { flush: async () => void flushes++ });
    await rowsOf(flushing, "select 1 as one");
    expect(flushes).toBe(1);
    const failing = asking.open([onServer(delayedUrl)], {
      flush: () => Promise.reject(new Error("away")),
    });
    const cause = await rowsOf(failing, "select 1").catch((cause) => cause) as Failure;
    expect(cause.status).toBe(503);
    const stuck = asking.open([onServer(delayedUrl)], {
      flush: () => new Promise(() => {}),
      limits: { ...LIMITS, timeMs: 200 },
    });
    expect((await rowsOf(stuck, "select 1").catch((cause) => cause) as Failure).status).toBe(503);
  });

  test("leaves no file behind", async () => {
    const by = asking.open([onServer(delayedUrl)]);
    const before = new Set(readdirSync(tmpdir()));
    await rowsOf(by, "select length(value) as n from state");
    const made = readdirSync(tmpdir()).filter((name) => !before.has(name));
    expect(made.filter((name) => /sqlite|etilqs|libsql|quer/i.test(name))).toEqual([]);
  });
});
