import { afterAll, beforeAll, expect, test } from "vitest";
import { register, send } from "../support/client.ts";
import { until } from "../support/child.ts";
import { type Endpoint, startEndpoint, type Transport } from "../support/endpoint.ts";
import { asServer, startWorkerd, type WorkerdServer } from "./_server.ts";

/** workerd evicts an object nobody has called for 10 s. */
const NAP_MS = 30_000;

interface Pair {
  readonly server: WorkerdServer;
  readonly endpoint: Endpoint;
}

async function start(transport: Transport): Promise<Pair> {
  const [server, endpoint] = await Promise.all([startWorkerd(), startEndpoint(transport)]);
  await register(asServer(server), endpoint);
  return { server, endpoint };
}

let pairs: Record<Transport, Pair>;
beforeAll(async () => {
  const [h1, h2] = await Promise.all([start("h1"), start("h2")]);
  pairs = { h1, h2 };
}, 30_000);
afterAll(async () => {
  for (const { server, endpoint } of Object.values(pairs ?? {})) {
    await Promise.all([server.close(), endpoint.close()]);
  }
});

test.concurrent.each<Transport>(["h1", "h2"])(
  "over %s, a sleeper wakes although its object was evicted meanwhile",
  async (transport) => {
    const { server, endpoint } = pairs[transport];
    const lives = () => server.logs().split("The partition is awake").length - 1;
    const begun = Date.now();
    await send(asServer(server), "Greeter/nap", { id: "evicted", ms: NAP_MS });
    await endpoint.happens("evicted asleep");
    expect(lives()).toBe(1);
    await until("it to wake", () => endpoint.count("evicted after") > 0, NAP_MS + 10_000);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(NAP_MS);
    expect(endpoint.count("evicted before")).toBe(1);
    expect(lives()).toBe(2);
  },
  60_000,
);
