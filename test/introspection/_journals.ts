import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Filled } from "./_filled.ts";

/**
 * Entries of the reference server (1.7.12) after the same handlers ran on it, one a line, without what
 * differs from run to run. `PEER=http://…` compares another server's.
 */
const GOLDEN = path.join(import.meta.dirname, "golden/journal.txt");
const HANDLERS = ["all", "sleeper", "lazy", "run", "flaky", "awaits"];
const VARIES = /inv_|sign_|Sleep|OneWay|Call|Attach|Signal|Awake/;

/** Asks for journals of a server that `_filled.ts` has filled, wherever its rows are. */
export function journals(start: () => Promise<Filled>): void {
  let filled: Filled;

  beforeAll(async () => {
    filled = await start();
  }, 60_000);

  afterAll(async () => await filled?.close());

  test("every entry is as readable as on the reference", async () => {
    const lines = (await Promise.all(HANDLERS.map((handler) => linesOf(filled, handler)))).flat();
    const expected = readFileSync(GOLDEN, "utf8").trim().split("\n");
    expect(expected.filter((line) => !lines.includes(line))).toEqual([]);
    // A signal that is no longer awaited is still stored here, before the output.
    const more = lines.filter((line) => !expected.includes(line));
    expect(more.filter((line) => !line.includes('"Index":18'))).toEqual([]);
  });

  test("entries are found by their places, however these are described", () =>
    placesAreExact(filled));

  test("only what is asked for is decoded, whatever the condition", async () => {
    const [row] = await filled.rows("SELECT id FROM sys_invocation WHERE target = 'Greeter/all'");
    const id = row?.["id"];
    const one = await filled.rows(`SELECT index, raw_length FROM sys_journal WHERE id = '${id}'`);
    const all = await filled.rows("SELECT id, index, raw_length FROM sys_journal");
    expect(
      all.filter((entry) => entry["id"] === id).map(({ index, raw_length }) => ({
        index,
        raw_length,
      })),
    ).toEqual(one);
    await lengthsAreThoseOfBytes(filled);
    const [joined] = await filled.rows(
      `SELECT count(*) AS n FROM sys_invocation i JOIN sys_journal j ON j.id = i.id
        WHERE i.id = '${id}'`,
    );
    expect(joined).toEqual({ n: one.length });
  });
}

/** Conditions on places, and what they mean. */
const PLACES: readonly (readonly [string, (index: number) => boolean])[] = [
  ["index >= 2", (index) => index >= 2],
  ["index >= 1 AND index < 4", (index) => index >= 1 && index < 4],
  ["index IN (0, 3, 900)", (index) => index === 0 || index === 3],
  ["index BETWEEN 1 AND 2", (index) => index === 1 || index === 2],
  ["index = 1 OR index > 5", (index) => index === 1 || index > 5],
  ["NOT (index < 3)", (index) => index >= 3],
  ["index + 1 < 3", (index) => index < 2],
  ["'r1.c3' <> 'x' AND index < 2", (index) => index < 2],
  ["index = 1 OR entry_type = 'Command: Input'", (index) => index < 2],
  ["index > 900", () => false],
];

async function placesAreExact(filled: Filled): Promise<void> {
  const [row] = await filled.rows("SELECT id FROM sys_invocation WHERE target = 'Greeter/all'");
  const id = row?.["id"];
  const columns = "SELECT index, name, entry_json FROM sys_journal";
  const all = await filled.rows(`${columns} WHERE id = '${id}' ORDER BY index`);
  expect(all.length).toBeGreaterThan(6);
  for (const [condition, isMeant] of PLACES) {
    const rows = await filled.rows(
      `${columns} WHERE id = '${id}' AND (${condition}) ORDER BY index`,
    );
    expect(rows, condition).toEqual(all.filter(({ index }) => isMeant(Number(index))));
  }
  // Two mentions want different entries of the same journal.
  const pairs = await filled.rows(
    `SELECT a.index AS a, b.index AS b FROM sys_journal a JOIN sys_journal b ON b.id = a.id
      WHERE a.id = '${id}' AND a.index < 2 AND b.index = 3 ORDER BY a`,
  );
  expect(pairs).toEqual([{ a: 0, b: 3 }, { a: 1, b: 3 }]);
}

async function lengthsAreThoseOfBytes(filled: Filled): Promise<void> {
  const sum = await filled.rows(
    "SELECT sum(raw_length) AS known, sum(length(raw)) AS said FROM sys_journal",
  );
  const rows = await filled.rows("SELECT raw FROM sys_journal");
  const bytes = rows.reduce((sum, { raw }) => sum + String(raw).length / 2, 0);
  expect(sum).toEqual([{ known: bytes, said: bytes }]);
}

async function linesOf(filled: Filled, handler: string): Promise<string[]> {
  const [row] = await filled.rows(
    `SELECT id FROM sys_invocation WHERE target_handler_name = '${handler}'
      ORDER BY created_at LIMIT 1`,
  );
  const rows = await filled.rows(
    `SELECT index, entry_type, name, version, raw_length, entry_lite_json, entry_json, raw
      FROM sys_journal WHERE id = '${row?.["id"]}' AND entry_type <> 'Command: Input'
      ORDER BY index`,
  );
  return rows.map((entry) => {
    const { entry_type: type, name, version, raw_length: size, entry_json: json, raw } = entry;
    const isStable = !VARIES.test(`${json}${type}`);
    return [
      handler,
      type,
      String(JSON.stringify(name)),
      version,
      size,
      stable(entry["entry_lite_json"]),
      stable(json),
      isStable ? raw : "",
    ].join(" ").trim();
  });
}

/** JSON without ids and times. The retention of a callee that was deleted is unknown. */
function stable(json: unknown): string {
  return String(json)
    .replace(/inv_1[0-9A-Za-z]{33}/g, "inv")
    .replace(/sign_1[\w-]+/g, "sign")
    .replace(/\b17\d{11}\b/g, "TIME")
    .replace(
      /"completion_retention_duration":.*?"journal_retention_duration":(?:\{.*?\}|null)/,
      '"retention":…',
    );
}
