import { afterAll, beforeAll, expect, test } from "vitest";
import { call, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";

let endpoint: Endpoint, lax: Server, strict: Server;

beforeAll(async () => {
  [endpoint, lax, strict] = await Promise.all([
    startEndpoint("h2"),
    startServer({ runtime: "node", settings: { LOG_LEVL: "debug" } }),
    startServer({ runtime: "node", settings: { STRICT: "true" } }),
  ]);
  for (const server of [lax, strict]) expect((await register(server, endpoint)).status).toBe(201);
}, 60_000);

afterAll(async () => {
  await Promise.all([endpoint, lax, strict].map((one) => one?.close()));
});

test("a misspelled variable is named at the start, with what was probably meant", () => {
  expect(lax.logs()).toContain("unknown environment variable 'SVC_LOG_LEVL'");
  expect(lax.logs()).toContain("did you mean 'SVC_LOG_LEVEL'?");
  expect(strict.logs()).not.toContain("A setting is ignored");
});

test("a misspelled parameter of a send is warned about, and refused by a strict server", async () => {
  const warned = await send(lax, "Greeter/greet", "Ada", { query: "delayy=10s" });
  expect([warned.status, warned.headers.get("x-svc-warning")]).toEqual([
    202,
    "unknown query parameter 'delayy', did you mean 'delay'?",
  ]);
  expect((await send(strict, "Greeter/greet", "Ada", { query: "delayy=10s" })).status).toBe(400);
  expect((await call(strict, "Greeter/greet", "Ada")).body).toBe("Hello Ada");
});

test("a misspelled field of a registration is warned about, and refused by a strict server", async () => {
  const warned = await register(lax, endpoint, { forse: true });
  expect([warned.status, warned.headers.get("x-svc-warning")]).toEqual([
    200,
    "unknown field 'forse', did you mean 'force'?",
  ]);
  expect((await register(strict, endpoint, { forse: true })).status).toBe(400);
  expect((await register(strict, endpoint, { force: true })).status).toBe(200);
});
