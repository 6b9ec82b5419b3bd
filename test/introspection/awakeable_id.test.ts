import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocal } from "../../adapters/libsql/file/local_client.ts";
import { awakeableId, awakeableTables } from "../../src/introspection/tables/awakeable_id.ts";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import { printInvocationId } from "../../src/model/id.ts";
import type { SqlClient } from "../../src/ports.ts";

let client: SqlClient;
beforeAll(async () => void (client = await openLocal({ url: "file::memory:" })));
afterAll(async () => await client.close());

const sql = `with recursive ${awakeableTables("?1")} select ${awakeableId("?2")} as id from prefix`;
const bytes = fc.oneof(
  fc.uint8Array({ minLength: 24, maxLength: 24 }),
  fc.constantFrom(0, 255).map((byte) => new Uint8Array(24).fill(byte)),
);
const index = fc.oneof(fc.integer({ min: 17, max: 30 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }));

test("SQL prints the id of an awakeable as the SDK does", async () => {
  await fc.assert(fc.asyncProperty(bytes, index, async (bytes, index) => {
    const target = printInvocationId(bytes);
    const [[row] = []] = await client.batch("read", [{ sql, args: [target, index] }]);
    expect(row?.["id"]).toBe(printAwakeableId(target, index));
  }));
});
