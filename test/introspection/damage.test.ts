import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Failure } from "../../src/errors.ts";
import { entryType } from "../../src/model/journal.ts";
import type { Introspection } from "../../src/query_port.ts";
import { rowsOf } from "./_small.ts";
import { Asking, damage, Files, inFile, type Rows } from "./_united.ts";

/** Ids of the right form, which SQL does not look into. */
const idOf = (n: number) => `inv_1${String(n).repeat(33)}`;
const [WHOLE, BROKEN, OTHER] = [idOf(1), idOf(2), idOf(3)];
const body = (id: string) =>
  JSON.stringify({ id, target: { type: "service", service: "Greeter", handler: id.slice(-1) } });
const run = (index: number, size: number) => ({
  index,
  at: 1,
  kind: "command",
  type: entryType.run,
  size,
});
/** An entry of the protocol that holds nothing. */
const EMPTY = new Uint8Array(0);
const segment = (id: string, first: number, entries: unknown, bytes = EMPTY) => ({
  id,
  first,
  entries: typeof entries === "string" ? entries : JSON.stringify(entries),
  bytes,
});

const rows: Rows = {
  invocation: [WHOLE, BROKEN, OTHER].map((id) => ({
    id,
    partition: 0,
    status: "completed",
    created_at: 1,
    body: body(id),
  })),
  journal: [
    segment(WHOLE, 0, [run(0, 0), run(1, 0)]),
    // A flipped bit in the JSON, and one in a frame.
    segment(BROKEN, 0, `[{"index":0,"at"z1}]`),
    segment(BROKEN, 1, [run(1, 0), run(2, 2)], Uint8Array.of(0xff, 0xff)),
    segment(OTHER, 0, [run(0, 0)]),
  ],
};

const files = new Files();
const asking = new Asking();
let urls: string[];

beforeAll(async () => {
  const empty = { invocation: [], journal: [] };
  urls = [await files.make("damaged.db", rows), await files.make("empty.db", empty)];
  await damage(urls[0] ?? "", `{"id":"${BROKEN}","target":`);
});
afterAll(async () => {
  await asking.close();
  await files.close();
});

describe.each([["a file", 1], ["several files", 2]])("of a damaged row in %s", (_, count) => {
  let by: Introspection;
  beforeEach(() => {
    asking.said.length = 0;
    by = asking.open(urls.slice(0, count).map(inFile));
  });

  test("a journal shows that it is there, and all others", async () => {
    const sql = "select id, index, entry_type, entry_json is null as hidden from sys_journal " +
      "order by id, index";
    const entry = (id: string, index: number, type: string, hidden = 0) => ({
      id,
      index,
      entry_type: type,
      hidden: hidden === 1,
    });
    expect(await rowsOf(by, sql)).toEqual([
      entry(WHOLE, 0, "Command: Run"),
      entry(WHOLE, 1, "Command: Run"),
      entry(BROKEN, 0, "Unreadable", 1),
      entry(BROKEN, 1, "Command: Run"),
      // Its frame alone is damaged.
      entry(BROKEN, 2, "Command: Run", 1),
      entry(OTHER, 0, "Command: Run"),
    ]);
    const said = JSON.stringify(asking.said);
    expect(said).toContain("A stored row is damaged and cannot be read");
    expect(said).toContain(`"key":"${BROKEN}/0"`);
  });

  test("a refusal names table and key, and how to get all others", async () => {
    const sql = "select target_handler_name as name from sys_invocation";
    const cause = await rowsOf(by, sql).catch((cause) => cause) as Failure;
    expect(cause.status).toBe(500);
    expect(cause.message).toContain(
      `rows are damaged and cannot be read, of sys_invocation (${BROKEN}); leave them out by a ` +
        "condition such as id NOT IN",
    );
    expect(JSON.stringify(asking.said)).toContain(`"table":"invocation","key":"${BROKEN}"`);
    expect(await rowsOf(by, `${sql} where id not in ('${BROKEN}') order by name`))
      .toEqual([{ name: "1" }, { name: "3" }]);
  });
});
