import { afterEach, describe, expect, test, vi } from "vitest";
import { until } from "../../support/child.ts";
import { call, get, manage, query, register, send } from "../../support/client.ts";
import { startEndpoint } from "../../support/endpoint.ts";
import { type Gateway, startGateway } from "./_gateway.ts";
import { installation, type Runtime } from "./_servers.ts";

vi.setConfig({ testTimeout: 60_000 });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const NAME = "PERDURE_HEADER_TEST_KEY";
const FAILURE = "select last_failure, last_failure_error_code, retry_count from sys_invocation";

/** An endpoint behind a gateway that wants this value of a header. */
async function guarded(transport: "h1" | "h2", value: string): Promise<Gateway> {
  const endpoint = await startEndpoint(transport);
  cleanups.push(() => endpoint.close());
  const gateway = await startGateway(endpoint, wants(value));
  cleanups.push(() => gateway.close());
  return gateway;
}

const wants = (value: string) => (headers: Record<string, unknown>) => {
  if (headers["x-api-key"] !== value) throw new Error("another value");
};

const RUNTIMES: readonly (readonly [Runtime, "h1" | "h2"])[] = [
  ["node", "h2"],
  ["node", "h1"],
  ["deno", "h2"],
  ["workerd", "h1"],
];

describe.each(RUNTIMES)("headers from variables on %s, %s", (runtime, transport) => {
  test("are sent with discovery and attempts, and shown as references", async () => {
    const [gateway, start] = [
      await guarded(transport, "the-first-value"),
      await installation(runtime, cleanups),
    ];
    const server = await start({ env: { [NAME]: "the-first-value" } });
    const headers = { "X-Api-Key": { env: NAME }, "x-other": "1" };
    const made = await register(server, gateway, { additional_headers: headers });
    expect([made.status, JSON.stringify(made.body)]).toEqual([201, expect.any(String)]);
    expect((await call(server, "Greeter/greet", "Ada")).body).toBe("Hello Ada");
    expect(gateway.seen.map(({ passed }) => passed)).not.toContain(false);
    const { id } = made.body as { id: string };
    const shown = (await get(`${server.admin}/deployments/${id}`)).body;
    expect(shown).toMatchObject({
      additional_headers: { "x-api-key": { env: NAME }, "x-other": "1" },
    });
    const list = (await get(`${server.admin}/deployments`)).body;
    expect(JSON.stringify([made.body, shown, list]) + server.logs()).not.toContain("the-first");
  });

  test("fail attempts while the variable is missing, which goes on with a new value", async () => {
    const [gateway, start] = [
      await guarded(transport, "the-first-value"),
      await installation(runtime, cleanups),
    ];
    const headers = { additional_headers: { "x-api-key": { env: NAME } } };
    const first = await start({ env: { [NAME]: "the-first-value" } });
    expect((await register(first, gateway, headers)).status).toBe(201);
    await first.stop();
    const without = await start();
    await send(without, "Greeter/greet", "Ada");
    await until("two failed attempts", async () => {
      const [row] = await query(without, FAILURE);
      return Number(row?.["retry_count"]) > 1;
    });
    expect(await query(without, FAILURE)).toMatchObject([{
      last_failure_error_code: "RT0035",
      last_failure: expect.stringContaining(`the variable "${NAME}" is not set in this process`),
    }]);
    await without.stop();
    gateway.check = wants("the-second-value");
    const second = await start({ env: { [NAME]: "the-second-value" } });
    await until("it to complete", async () => {
      const [row] = await query(second, "select status from sys_invocation");
      return row?.["status"] === "completed";
    });
    expect((await call(second, "Greeter/greet", "Bob")).body).toBe("Hello Bob");
  });
});

test("a registration is refused with what is wrong of the variable", async () => {
  const [gateway, start] = [await guarded("h1", "v"), await installation("node", cleanups)];
  const server = await start({
    settings: { ADMIN__TOKEN: "", OUTBOUND__HEADER_VARIABLES: '["ORDERS_*", "OTHER", "S*"]' },
    env: { [NAME]: "v", ORDERS_KEY: "v", OTHER: "two\nlines", DATABASE_TOKEN: "v" },
  });
  const refused = async (env: string) => {
    const more = { additional_headers: { "x-api-key": { env } } };
    const { status, body } = await register(server, gateway, more);
    expect(status).toBe(400);
    expect(body).toMatchObject({ svc_code: "META0019" });
    return (body as { message: string }).message;
  };
  const setting =
    /may not be used for headers \("outbound\.header-variables": ORDERS_\*, OTHER, S\*\)/;
  expect(await refused(NAME)).toMatch(setting);
  expect(await refused("DATABASE_TOKEN")).toMatch(setting);
  expect(await refused("PATH")).toMatch(setting);
  // A setting of the server, also where its name is permitted.
  expect(await refused("SVC_KAFKA__TOKEN")).toMatch(setting);
  expect(await refused("OTHERS")).toMatch(setting);
  expect(await refused("ORDERS_NONE")).toMatch(/"ORDERS_NONE" is not set in this process/);
  expect(await refused("OTHER")).toMatch(/"OTHER" has a character that no header may have/);
  expect(gateway.seen).toEqual([]);
  const known = { additional_headers: { "x-api-key": { env: "ORDERS_KEY" } } };
  const { status, body } = await register(server, gateway, known);
  expect(status).toBe(201);
  const { id } = body as { id: string };
  const worse = { additional_headers: { "x-api-key": { env: "PATH" } } };
  expect((await manage(server, `PATCH /deployments/${id}`, worse)).status).toBe(400);
  expect((await manage(server, `PUT /deployments/${id}`, worse)).status).toBe(400);
  expect((await manage(server, `PATCH /deployments/${id}`, known)).status).toBe(200);
  expect(server.logs()).not.toMatch(/two.{0,2}lines/);
});

test("settings of variables that are no names are refused at the start", async () => {
  const start = await installation("node", cleanups);
  const settings = { OUTBOUND__HEADER_VARIABLES: '["*"]' };
  await expect(start({ settings })).rejects.toThrow(/a list of names of variables/);
});
