import { createClient } from "@libsql/client/sqlite3";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FORMAT_VERSION } from "../../src/storage/schema/migrations.ts";
import { call, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { Servers } from "./_servers.ts";

let endpoint: Endpoint;
const { at, start } = new Servers();

beforeAll(async () => {
  endpoint = await startEndpoint("h2");
});
afterAll(() => endpoint.close());

/** What the later formats added, taken away again: the folder is as an earlier server left it. */
const DOWN: Readonly<Record<number, readonly string[]>> = {
  7: ["alter table node drop column unreached", "alter table log drop column sum"],
  8: ["alter table node drop column unreached"],
};

async function change(folder: string, statements: readonly string[]): Promise<void> {
  const client = createClient({ url: pathToFileURL(path.join(folder, "perdure.db")).href });
  await client.batch([...statements], "write");
  client.close();
}

const setFormat = (format: number) => `update meta set value = '${format}' where name = 'format'`;

test.each([7, 8])(
  "a folder of format %i is brought to the current one, and its calls in flight go on",
  async (format) => {
    const name = `from ${format}`;
    const before = await start(at(name));
    await register(before, endpoint);
    const headers = { "idempotency-key": name };
    const nap = { id: name, ms: 2_000 };
    await send(before, "Greeter/nap", nap, { headers });
    await endpoint.happens(`${name} asleep`);
    expect(await before.stop("SIGTERM")).toBe(0);
    await change(at(name), [...DOWN[format] ?? [], setFormat(format)]);
    const after = await start(at(name));
    const { status } = await call(after, "Greeter/nap", nap, { headers });
    expect(status).toBe(200);
    expect([endpoint.count(`${name} before`), endpoint.count(`${name} after`)]).toEqual([1, 1]);
  },
  60_000,
);

test("a folder of a later format is refused, and left as it is", async () => {
  const later = FORMAT_VERSION + 1;
  const server = await start(at("later"));
  await server.stop("SIGTERM");
  await change(at("later"), [setFormat(later)]);
  const { end, output } = await server.rival();
  expect([end, output]).toEqual([1, expect.stringContaining(`its format is ${later}`)]);
  expect(output).toMatch(/^\[META0010\]/m);
  await change(at("later"), [setFormat(FORMAT_VERSION)]);
  await server.start();
});
