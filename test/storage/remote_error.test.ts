import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { openRemote } from "../../adapters/libsql/remote/open.ts";
import { RemoteError } from "../../adapters/libsql/remote/error.ts";
import { nodePost } from "../../adapters/libsql/remote/node_post.ts";
import type { SqlClient } from "../../src/ports.ts";

const TOKEN = "secret-token";
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A client of a server that answers every request in one way. */
async function answered(
  answer: (response: import("node:http").ServerResponse) => void,
): Promise<SqlClient> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => void (server.closeAllConnections(), server.close()) });
  const { port } = server.address() as { port: number };
  const url = `http://127.0.0.1:${port}`;
  return await openRemote({ url, authToken: TOKEN, post: nodePost, timeoutMs: 20_000 });
}

async function failureOf(client: SqlClient): Promise<RemoteError> {
  const cause = await client.batch("read", [{ sql: "select 1", args: [] }])
    .then(() => undefined, (cause) => cause);
  expect(cause).toBeInstanceOf(RemoteError);
  return cause;
}

test.each([
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [504, true],
  [400, false],
  [401, false],
  [404, false],
])("a server that answers %i may be asked again: %s", async (status, isLost) => {
  const client = await answered((response) => response.writeHead(status).end("busy"));
  const failure = await failureOf(client);
  expect([failure.isLost, failure.isForbidden]).toEqual([isLost, status === 401]);
});

test("a connection that breaks in the middle of an answer may be asked again", async () => {
  const client = await answered((response) => {
    response.writeHead(200, { "content-length": "100" }).write("{");
    setImmediate(() => response.socket?.destroy());
  });
  const failure = await failureOf(client);
  expect(client.isLost?.(failure)).toBe(true);
});

test("the error of a server is reported without the token that it repeats", async () => {
  const client = await answered((response) => response.writeHead(400).end(`no ${TOKEN}`));
  const { message } = await failureOf(client);
  expect(message).toContain("http://127.0.0.1:");
  expect(message).not.toContain(TOKEN);
});
