import { expect, test } from "vitest";
import { importRows } from "../../src/storage/move/import_rows.ts";
import type { RowWriter } from "../../src/storage/move/write_rows.ts";
import { exportRows } from "../../src/storage/move/export_rows.ts";
import { close, idOf, newInstallation, silent } from "./_installations.ts";

/** The lines of a small dump. */
async function dump(): Promise<string[]> {
  const { installation } = await newInstallation({ partitions: 1, databases: "one" }, 3);
  const client = installation.of(0);
  const body = JSON.stringify({ id: idOf("a"), seq: 1, at: 5, after: 2, kind: "paused" });
  await client.batch("write", [
    { sql: "insert into event (id, seq, body) values (?, 1, ?)", args: [idOf("a"), body] },
    { sql: "insert into state (object, name, value) values ('svc/ü', 'x', x'0001ff')", args: [] },
    {
      sql:
        "insert into journal (id, first, entries, bytes) values (?, 0, '[{\"index\":0,\"size\":2}]', x'0102')",
      args: [idOf("b")],
    },
  ]);
  let text = "";
  for await (const chunk of exportRows(installation, { madeBy: "1", epoch: 3 }, silent)) {
    text += chunk;
  }
  await close(installation);
  return text.trimEnd().split("\n");
}

async function* streamed(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield typeof text === "string" ? new TextEncoder().encode(text) : text;
}

/** Reads it, and answers how many rows were taken. */
async function read(text: string | Uint8Array): Promise<number> {
  let rows = 0;
  const writer = { add: async () => void rows++, flush: async () => {} };
  await importRows(streamed(text), {
    begin: async () => writer as unknown as RowWriter,
    progress: silent,
  });
  return rows;
}

test("a dump has a head, a line for each row, and a tail", async () => {
  const lines = await dump();
  expect(JSON.parse(lines[0]!)).toEqual({
    perdure: "dump",
    version: 1,
    partitions: 1,
    epoch: 3,
    madeBy: "1",
  });
  expect(JSON.parse(lines[3]!)).toMatchObject({
    table: "state",
    row: { object: "svc/ü", name: "x", value: { base64: "AAH_" } },
  });
  expect(lines).toHaveLength(5);
  expect(await read(`${lines.join("\n")}\n`)).toBe(3);
});

test("a dump that is cut off anywhere is refused, with the line", async () => {
  const whole = `${(await dump()).join("\n")}\n`;
  for (let size = 0; size < whole.length; size += 7) {
    const line = whole.slice(0, size).split("\n").length;
    await expect(read(whole.slice(0, size))).rejects.toThrow(
      `Cannot read line ${line} of the dump`,
    );
  }
  await expect(read(whole.slice(0, -1))).rejects.toThrow("line 5");
});

test("a dump in which any character changed is refused", async () => {
  const whole = new TextEncoder().encode(`${(await dump()).join("\n")}\n`);
  const head = whole.indexOf(0x0a);
  for (let at = head + 1; at < whole.length; at += 3) {
    const bytes = whole.slice();
    bytes[at]! ^= 1;
    await expect(read(bytes), `at ${at}`).rejects.toThrow(/^Cannot read line [2-6] of the dump/);
  }
});

const change = (at: number, act: (line: string) => string[]) => (lines: string[]) =>
  lines.flatMap((line, i) => i === at ? act(line) : [line]);

/** Damages of a dump, and their error messages. */
const DAMAGES: Readonly<Record<string, [(lines: string[]) => string[], string]>> = {
  "it is another file": [() => ["hello"], "line 1 of the dump: it is no JSON"],
  "it is of another version": [
    change(0, (line) => [line.replace('"version":1', '"version":99')]),
    "line 1 of the dump: its version is 99, this server reads 1",
  ],
  "a line is missing": [change(2, () => []), "line 4 of the dump: what is before it is not all"],
  "a line is there twice": [change(2, (line) => [line, line]), "line 6 of the dump"],
  "a line is empty": [change(2, () => [""]), "line 3 of the dump: it is no JSON"],
  "there is more": [change(4, (line) => [line, line]), "line 6 of the dump: there is something"],
  "a table is not known": [
    change(2, (line) => [line.replace("event", "evens")]),
    'line 3 of the dump: there is no table "evens"',
  ],
  "a value is of another kind": [
    change(3, (line) => [line.replace('{"base64":"AAH_"}', "5")]),
    'line 4 of the dump: column "value" holds no bytes',
  ],
};

test.each(Object.entries(DAMAGES))("a dump is refused when %s", async (_, [damage, told]) => {
  const lines = damage(await dump());
  await expect(read(`${lines.join("\n")}\n`)).rejects.toThrow(told);
});
