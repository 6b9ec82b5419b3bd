import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { openRemote } from "../../adapters/libsql/remote/open.ts";
import { withRetries } from "../../src/storage/retry.ts";

const closes: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

const DELETE = { sql: "delete from t", args: [] };
const EMPTY = { cols: [], rows: [], affected_row_count: 0, last_insert_rowid: null };

/** Answers single statements as a libSQL server does: the first `refusals` of them with an error. */
async function serve(error: { message: string; code: string }, refusals: number): Promise<string> {
  let left = refusals;
  const answer = async (request: IncomingMessage): Promise<string> => {
    const { requests } = await json(request) as { requests: { type: string }[] };
    const isRefused = left-- > 0;
    const results = requests.map(({ type }) => {
      if (type !== "execute") return { type: "ok", response: { type } };
      return isRefused
        ? { type: "error", error }
        : { type: "ok", response: { type, result: EMPTY } };
    });
    return JSON.stringify({ baton: null, base_url: null, results });
  };
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    answer(request).then((body) => response.end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closes.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([
  ["SQLITE_BUSY", "database is locked"],
  ["SQLITE_BUSY_SNAPSHOT", "database is locked"],
  ["SQLITE_LOCKED", "database table is locked"],
])("a server that says %s has done nothing, and is asked again", async (code, message) => {
  const client = await openRemote({ url: await serve({ code, message }, 2), authToken: "" });
  closes.push(() => client.close());
  const causes: unknown[] = [];
  const act = () =>
    client.batch("write", [DELETE]).catch((cause) => {
      causes.push(cause);
      throw cause;
    });
  expect(await withRetries(client, act, { retryMs: 1 })).toEqual([[]]);
  expect(causes.map((cause) => client.isLost?.(cause))).toEqual([true, true]);
});

test("a server that says SQLITE_CORRUPT is not asked again", async () => {
  const error = { code: "SQLITE_CORRUPT", message: "database disk image is malformed" };
  const client = await openRemote({ url: await serve(error, 1), authToken: "" });
  closes.push(() => client.close());
  const asked = withRetries(client, () => client.batch("write", [DELETE]), { retryMs: 1 });
  await expect(asked).rejects.toThrow(error.message);
});
