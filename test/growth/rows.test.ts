import { expect, test } from "vitest";
import { partitionOfObject } from "../../src/model/ring.ts";
import type { SqlClient, SqlRow } from "../../src/ports.ts";
import { checkRow } from "../../src/storage/move/check_row.ts";
import { checkRows } from "../../src/storage/move/move_rows.ts";
import { epochsOf, finish } from "../../src/storage/move/new_installation.ts";
import { difference, digestRow, Sums } from "../../src/storage/move/row_digest.ts";
import { homeOf, rowTable } from "../../src/storage/move/row_table.ts";
import { RowWriter } from "../../src/storage/move/write_rows.ts";
import { ask, close, idOf, newInstallation, silent } from "./_installations.ts";

const STATE = rowTable("state")!;
const row = (name: string, size = 1): SqlRow => ({
  object: "o/k",
  name,
  value: new Uint8Array(size),
});

const sumOf = (names: readonly string[]) => {
  const sums = new Sums();
  for (const name of names) sums.add(STATE, digestRow(STATE, row(name)));
  return sums.tables();
};

test("rows come to the same sum in any order, and other rows to another one", () => {
  expect(difference(sumOf(["a", "b", "c"]), sumOf(["c", "a", "b"]))).toBeUndefined();
  expect(difference(sumOf(["a", "b"]), sumOf(["a", "c"]))).toMatch(/are not the same/);
  expect(difference(sumOf(["a", "b"]), sumOf(["a"]))).toMatch(/has 2 rows instead of 1/);
});

test("a table that an earlier version did not have is one without rows", () => {
  const all = sumOf(["a"]);
  const { source: _, ...earlier } = all;
  expect(difference(all, earlier)).toBeUndefined();
  expect(difference(all, { ...earlier, sauce: all["state"]! })).toMatch(/no table "sauce"/);
  const { state: __, ...other } = all;
  expect(difference(all, other)).toMatch(/has 1 rows instead of 0/);
});

test("rows that are there twice do not cancel each other out", () => {
  expect(difference(sumOf(["a", "a", "b"]), sumOf(["b", "c", "c"]))).toMatch(/are not the same/);
});

test("the rows of an object in a scope belong to the partition of the scope", () => {
  const partitions = 64;
  const home = (object: string) => homeOf(STATE, { object }, partitions);
  const ofScope = partitionOfObject({ key: "any", scope: "blue" }, partitions);
  expect(ofScope).toBe(partitionOfObject({ key: "blue" }, partitions));
  expect(home("blue:counter/bob")).toBe(ofScope);
  expect(home("blue:counter/eve")).toBe(ofScope);
  expect(home("counter/blue")).toBe(ofScope);
  // A colon in a key is no scope.
  expect(home("counter/red:blue/x")).toBe(partitionOfObject({ key: "red:blue/x" }, partitions));
  expect(home("counter/bob")).not.toBe(ofScope);
});

test("a row larger than the database keeps is refused by name, before anything is written", async () => {
  const { installation } = await newInstallation({ partitions: 1, databases: "one" }, 0);
  const writer = new RowWriter(installation, 1_000);
  await writer.add(STATE, row("fits", 900));
  await expect(writer.add(STATE, row("large", 1_000))).rejects.toMatchObject({
    status: 413,
    message: expect.stringMatching(/^Cannot move state "o\/k large": it has \d+ bytes/),
  });
  await close(installation);
});

test("a row in a database that is not its own does not pass the check", async () => {
  const { installation, writer } = await newInstallation({ partitions: 2, databases: "each" }, 0);
  for (const name of ["a", "b"]) await writer.add(STATE, row(name));
  await writer.flush();
  const sums = sumOf(["a", "b"]);
  await checkRows(installation, sums, silent);
  const [first, second] = installation.clients as [SqlClient, SqlClient];
  const text = "insert into state (object, name, value) values ('o/k', 'a', x'00')";
  const rowsIn = async (client: SqlClient) => (await ask(client, "select 1 from state")).length;
  const [home, other] = await rowsIn(first) > 0 ? [first, second] : [second, first];
  await home.batch("write", [{ sql: "delete from state where name = 'a'", args: [] }]);
  await other.batch("write", [{ sql: text, args: [] }]);
  await expect(checkRows(installation, sums, silent)).rejects.toThrow(
    /state "o\/k a" is elsewhere/,
  );
  await close(installation);
});

test.each([
  ["a gap", [0, 2]],
  ["another first entry", [1, 2]],
])("a journal with %s is no row of a dump", (_, indices) => {
  const entries = indices.map((index) => ({ index, at: 1, kind: "command", type: 1, size: 1 }));
  const journal = { id: idOf("a"), first: 0, bytes: new Uint8Array(2) };
  const line = { ...journal, entries: JSON.stringify(entries) };
  expect(() => checkRow(rowTable("journal")!, line)).toThrow("its entries are not in a row");
});

test("a copy begins above the epochs of its rows, and its first database is finished last", async () => {
  const { installation } = await newInstallation({ partitions: 3, databases: "each" }, 7);
  expect([...await epochsOf(installation)]).toEqual([[0, 7], [1, 7], [2, 7]]);
  const finished: number[] = [];
  const clients = installation.clients.map((client, number): SqlClient => ({
    batch: (mode, statements) => {
      finished.push(number);
      return client.batch(mode, statements);
    },
    isRefused: (cause) => client.isRefused(cause),
    close: () => client.close(),
  }));
  await finish({ ...installation, clients });
  expect(finished).toEqual([2, 1, 0]);
  await close(installation);
});

test("a rule and a control that a server cannot read do not pass the check", () => {
  const RULE = rowTable("rule")!, CONTROL = rowTable("control")!;
  const body = JSON.stringify({ pattern: "a", limits: {}, disabled: false, version: 1 });
  checkRow(RULE, { pattern: "a", body });
  expect(() => checkRow(RULE, { pattern: "b", body })).toThrow(/column "pattern" is not what/);
  expect(() => checkRow(RULE, { pattern: "a", body: "{" })).toThrow(/holds no JSON/);
  checkRow(CONTROL, { kind: "book", name: "version", body: "7" });
  checkRow(CONTROL, { kind: "service", name: "Pay", body: '{"paused":true}' });
  expect(() => checkRow(CONTROL, { kind: "other", name: "x", body: "1" })).toThrow(/no such/);
  expect(() => checkRow(CONTROL, { kind: "queue", name: "x", body: "" })).toThrow(/holds no JSON/);
});
