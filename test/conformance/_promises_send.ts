import { expect } from "vitest";
import { until } from "../support/child.ts";
import { ask, call, operate, send, value } from "../support/client.ts";
import { idOf, type Promises } from "./_world.ts";

export const sendPromises: Promises = {
  "sends one way, and the handler runs once": async ({ server, endpoint, id }) => {
    const { status, headers, body } = await send(server, "Greeter/note", id);
    expect(status).toBe(202);
    expect(body).toEqual({ invocationId: headers.get("x-svc-id"), status: "Accepted" });
    await endpoint.happens(id);
    await value(server, "Greeter/greet", id);
    expect(endpoint.count(id)).toBe(1);
  },

  "delivers one-way calls of a handler once each": async ({ server, id }) => {
    const deltas = Array.from({ length: 25 }, (_, i) => i);
    expect(await value(server, "Greeter/relay", { key: id, deltas })).toBe(25);
    await until("all", async () => await value(server, `Counter/${id}/get`) === 300);
    expect(await value(server, `Counter/${id}/add`, 0)).toBe(300);
  },
};

export const delayPromises: Promises = {
  "sends with a delay, and never before it is over": async ({ server, endpoint, id }) => {
    const due = Date.now() + 400;
    const { status, body } = await send(server, "Greeter/note", id, { query: "delay=400ms" });
    expect(status).toBe(202);
    const { executionTime } = body as { executionTime: string };
    expect(Date.parse(executionTime)).toBeGreaterThanOrEqual(due);
    expect(Date.parse(executionTime)).toBeLessThanOrEqual(Date.now() + 400);
    await until("the delayed one", () => {
      const happened = endpoint.count(id) > 0;
      if (happened) expect(Date.now()).toBeGreaterThanOrEqual(due);
      return happened;
    });
  },

  "delivers delayed one-way calls of a handler when they are due": async ({ server, id }) => {
    const due = Date.now() + 400;
    await value(server, "Greeter/relay", { key: id, deltas: [1, 2], delayMs: 400 });
    await until("both", async () => {
      const sum = await value(server, `Counter/${id}/get`);
      if (sum !== 0) expect(Date.now()).toBeGreaterThanOrEqual(due);
      return sum === 3;
    });
  },
};

export const attachPromises: Promises = {
  "runs a handler once for one idempotency key": async ({ server, endpoint, id }) => {
    const headers = { "idempotency-key": id };
    const ask = () => call(server, "Greeter/note", id, { headers });
    const answers = await Promise.all([ask(), ask(), ask()]);
    const last = await ask();
    const ids = [...answers, last].map((answer) => answer.headers.get("x-svc-id"));
    expect(new Set(ids).size).toBe(1);
    expect(last.status).toBe(200);
    expect(endpoint.count(id)).toBe(1);
    const { body } = await send(server, "Greeter/note", id, { headers });
    expect(body).toMatchObject({ invocationId: ids[0], status: "PreviouslyAccepted" });
  },

  "waits for the result of what was sent, and says when there is none yet": async (world) => {
    const { server, endpoint, id } = world;
    const run = idOf(await send(server, "Greeter/hang", id));
    await endpoint.happens(`${id} hang`);
    expect((await ask(server, `output/${run}`)).status).toBe(470);
    const waiter = ask(server, `attach/${run}`);
    endpoint.release(id);
    expect(await waiter).toMatchObject({ status: 200, body: "let go" });
    expect(await ask(server, `output/${run}`)).toMatchObject({ status: 200, body: "let go" });
    expect((await ask(server, "output/inv_1nope")).status).toBe(400);
  },

  "finds what was begun with a key, and begins anew when that is purged": async (world) => {
    const { server, endpoint, id } = world;
    const headers = { "idempotency-key": id };
    const run = idOf(await send(server, "Greeter/note", id, { headers }));
    const target = { target: "idempotentInvocation", service: "Greeter", handler: "note" };
    const found = await ask(server, "attach", { ...target, idempotencyKey: id });
    expect([found.status, found.headers.get("x-svc-id")]).toEqual([200, run]);
    expect((await operate(server, "purge", run)).status).toBe(200);
    expect((await call(server, "Greeter/note", id, { headers })).status).toBe(200);
    expect(endpoint.count(id)).toBe(2);
  },
};
