import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRemote } from "../../adapters/libsql/remote/open.ts";
import type { Introspection } from "../../src/query_port.ts";
import { migrate } from "../../src/storage/schema/migrations.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { type Filled, startFilled } from "./_filled.ts";
import { journals } from "./_journals.ts";
import { questions } from "./_questions.ts";
import { rowsOf } from "./_small.ts";
import {
  cliStatements,
  conditionStatements,
  type Names,
  namesOf,
  objectStatements,
  otherStatements,
  pageStatements,
  uiStatements,
} from "./_statements.ts";
import { Asking, Files, fill, inFile, onServer, rowsOfTables, share, sorted } from "./_united.ts";

const program = await sqldProgram();

describe.skipIf(program === undefined)("rows on a server", () => {
  let sqld: Sqld, other: Sqld;
  let filled: Promise<Filled>;
  const files = new Files();
  const asking = new Asking();

  beforeAll(async () => {
    [sqld, other] = await Promise.all([startSqld(program ?? ""), startSqld(program ?? "")]);
    filled = startFilled("node", { STORAGE__DATABASE_URL: sqld.url });
    await filled;
  }, 60_000);
  afterAll(async () => {
    await asking.close();
    await Promise.all([sqld?.close(), other?.close(), files.close()]);
  });

  questions(() => filled);
  journals(() => filled);

  describe("are the same as in a file, and as in several databases", () => {
    let one: Introspection, remote: Introspection, united: Introspection;
    let names: Names;
    beforeAll(async () => {
      names = await namesOf(await filled);
      const rows = await rowsOfTables(await openRemote({ url: sqld.url, authToken: "" }));
      const second = await openRemote({ url: other.url, authToken: "" });
      await migrate(second);
      await fill(second, share(rows, 1, 3));
      const [all = "", first = "", third = ""] = await Promise.all([
        files.make("all.db", rows),
        files.make("first.db", share(rows, 0, 3)),
        files.make("third.db", share(rows, 2, 3)),
      ]);
      // Rows that wait show how long they have until the moment of the query.
      const at = Date.now();
      const clock = { clock: { now: () => at } };
      one = asking.open([inFile(all)], clock);
      remote = asking.open([onServer(sqld.url)], clock);
      united = asking.open([inFile(first), onServer(other.url), inFile(third)], clock);
    }, 30_000);

    async function expectSame(statement: string): Promise<void> {
      const rows = sorted(await rowsOf(one, statement));
      expect(sorted(await rowsOf(remote, statement)), statement).toEqual(rows);
      expect(sorted(await rowsOf(united, statement)), statement).toEqual(rows);
    }

    test.each(
      [
        ["lists of the UI", uiStatements],
        ["pages of the UI", pageStatements],
        ["objects in the UI", () => objectStatements],
        // The order is not defined there.
        ["the command line", () => cliStatements(names).map((one) => one.replace(ANY, ""))],
        // What SQLite does for it is its own business.
        ["all other constructs", () => otherStatements.filter((one) => !/^explain/i.test(one))],
      ] as const,
    )("%s", async (_, statements) => {
      for (const statement of statements(names)) await expectSame(statement);
    });

    test("conditions and limits", async () => {
      for (const statement of conditionStatements) await expectSame(statement);
    });

    test("every table with all its columns", async () => {
      const tables = await rowsOf(one, "select table_name as name from information_schema.tables");
      expect(tables.length).toBeGreaterThan(10);
      for (const { name } of tables as { name: string }[]) {
        await expectSame(`select * from ${name}`);
      }
    });
  });
});

const ANY = ", first_value(ss.id)\n";
