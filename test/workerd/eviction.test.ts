import { afterAll, beforeAll, expect, test } from "vitest";
import { register, send } from "../support/client.ts";
import { until } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { asServer, startWorkerd, type WorkerdServer } from "./_server.ts";

/** workerd evicts an object nobody has called for 10 s. */
const NAP_MS = 30_000;

let server: WorkerdServer, endpoint: Endpoint;
beforeAll(async () => {
  [server, endpoint] = await Promise.all([startWorkerd(), startEndpoint("h1")]);
  await register(asServer(server), endpoint);
}, 30_000);
afterAll(() => Promise.all([server?.close(), endpoint?.close()]));

const lives = () => server.logs().split("The partition is awake").length - 1;

test("a sleeper wakes although its object was evicted meanwhile", async () => {
  const begun = Date.now();
  await send(asServer(server), "Greeter/nap", { id: "evicted", ms: NAP_MS });
  await endpoint.happens("evicted asleep");
  expect(lives()).toBe(1);
  await until("it to wake", () => endpoint.count("evicted after") > 0, NAP_MS + 10_000);
  expect(Date.now() - begun).toBeGreaterThanOrEqual(NAP_MS);
  expect(endpoint.count("evicted before")).toBe(1);
  expect(lives()).toBe(2);
}, 60_000);
