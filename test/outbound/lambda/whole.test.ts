import { afterEach, expect, test, vi } from "vitest";
import { nodeDial } from "../../../adapters/dial/dial.ts";
import { clock } from "../../../adapters/platform/clock.ts";
import { random } from "../../../adapters/platform/random.ts";
import { createApp } from "../../../src/app.ts";
import { readConfig } from "../../../src/config.ts";
import { MemoryStore } from "../../../src/storage/memory_store.ts";
import { FakeStore } from "../../admin/_setup.ts";
import { startCloud } from "./_function_service.ts";

// Read when the SDK is loaded.
vi.hoisted(() => globalThis.process.env.RESTATE_LOGGING = "ERROR");

// The SDK needs it; Node has it from version 22 on.
(Promise as { withResolvers?: unknown }).withResolvers ??= () => {
  let resolve, reject;
  const promise = new Promise((yes, no) => [resolve, reject] = [yes, no]);
  return { promise, resolve, reject };
};

const arn = "arn:aws:lambda:eu-central-1:123456789012:function:shop:7";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The real SDK as a function, behind a simulated cloud. */
async function shop() {
  const { createEndpointHandler, service } = await import("@restatedev/restate-sdk/lambda");
  const svc = service({
    name: "Shop",
    handlers: {
      buy: async (ctx, what: string) => {
        const price = await ctx.run("price", () => what.length);
        await ctx.sleep(10);
        return `${what} for ${price}`;
      },
    },
  });
  const handle = createEndpointHandler({ services: [svc] });
  const cloud = await startCloud(async ({ body }) => ({
    body: JSON.stringify(await handle(JSON.parse(body), { awsRequestId: "1" } as never)),
  }));
  cleanups.push(() => cloud.close());
  return cloud;
}

async function server(env: Record<string, string>) {
  const dial = nodeDial();
  const app = await createApp({
    platform: { clock, random, dial, log: () => {} },
    config: readConfig({ env }),
    store: new MemoryStore(),
    deployments: new FakeStore(),
    version: "0.1.0",
  });
  cleanups.push(() => app.close());
  const register = () =>
    app.admin(
      new Request("http://admin/deployments", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ arn }),
      }),
    );
  return { app, register };
}

test("an unmodified handler runs as a function, through sleeps and replays", async () => {
  const cloud = await shop();
  const { app, register } = await server({
    AWS_ACCESS_KEY_ID: "AKIDOWN",
    AWS_SECRET_ACCESS_KEY: "own secret",
    AWS_ENDPOINT_URL_LAMBDA: cloud.url,
  });
  const registered = await register();
  expect(registered.status).toBe(201);
  expect(await registered.json()).toMatchObject({ services: [{ name: "Shop" }] });
  const called = await app.ingress(
    new Request("http://ingress/svc/call/Shop/buy", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '"tea"',
    }),
  );
  expect([called.status, await called.json()]).toEqual([200, "tea for 3"]);
  const paths = cloud.seen.map(({ body }) => JSON.parse(body).path);
  expect(paths[0]).toBe("/discover");
  // The handler suspends instead of waiting, so it takes more than one call.
  expect(paths.filter((path) => path === "/invoke/Shop/buy").length).toBeGreaterThan(1);
});

test("without credentials a function cannot be registered, and the refusal says why", async () => {
  const cloud = await shop();
  const { register } = await server({ AWS_ENDPOINT_URL: cloud.url });
  const refused = await register();
  expect(refused.status).toBe(500);
  expect(await refused.json()).toMatchObject({
    svc_code: "META0003",
    message: expect.stringContaining("AWS_SECRET_ACCESS_KEY"),
  });
  expect(cloud.seen).toEqual([]);
});
