import { expect } from "vitest";
import { until } from "../support/child.ts";
import { ask, operate, send, tryToOperate, value } from "../support/client.ts";
import { idOf, type Promises } from "./_world.ts";

const NEVER_MS = 3_600_000;

export const cancelPromises: Promises = {
  "cancels one that sleeps": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Greeter/nap", { id, ms: NEVER_MS }));
    await endpoint.happens(`${id} asleep`);
    expect((await operate(server, "cancel", run)).status).toBe(202);
    const { status, body } = await ask(server, `attach/${run}`);
    expect([status, body]).toEqual([409, expect.objectContaining({ message: "Cancelled" })]);
    expect(endpoint.count(`${id} after`)).toBe(0);
    expect((await tryToOperate(server, "cancel", run)).status).toBe(409);
  },

  "lets a handler that is canceled clean up": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/cleanup", id));
    await endpoint.happens(`${id} asleep`);
    await operate(server, "cancel", run);
    expect(await ask(server, `attach/${run}`)).toMatchObject({ status: 200, body: "clean" });
    expect(endpoint.count(`${id} caught 409`)).toBe(1);
  },

  "cancels whom it called along": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/callNap", { id, ms: NEVER_MS }));
    const called = await endpoint.announces(`${id} called`);
    await endpoint.happens(`${id} asleep`);
    await operate(server, "cancel", run);
    expect((await ask(server, `attach/${run}`)).status).toBe(409);
    expect((await ask(server, `attach/${called}`)).status).toBe(409);
    expect(endpoint.count(`${id} after`)).toBe(0);
  },

  "cancels one that waits for its time, and it never begins": async ({ server, endpoint, id }) => {
    const later = idOf(await send(server, "Greeter/note", id, { query: "delay=500ms" }));
    expect((await operate(server, "cancel", later)).status).toBe(200);
    const last = idOf(await send(server, "Greeter/greet", id, { query: "delay=600ms" }));
    await ask(server, `attach/${last}`);
    expect(endpoint.count(id)).toBe(0);
  },
};

export const killPromises: Promises = {
  "kills one that does not end, with whom it called": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/callNap", { id, ms: NEVER_MS }));
    const called = await endpoint.announces(`${id} called`);
    await endpoint.happens(`${id} asleep`);
    const waiter = ask(server, `attach/${called}`);
    expect((await operate(server, "kill", run)).status).toBe(200);
    expect(await ask(server, `attach/${run}`)).toMatchObject({ status: 409 });
    expect(await waiter).toMatchObject({ status: 409, body: { message: "killed" } });
  },

  "gives the object to the next when its holder is killed": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, `Counter/${id}/hold`, id));
    await endpoint.happens(`${id} hold`);
    const next = value(server, `Counter/${id}/add`, 1);
    expect((await operate(server, "kill", run)).status).toBe(200);
    expect(await next).toBe(1);
    endpoint.release(id);
  },
};

export const pausePromises: Promises = {
  "pauses one, and goes on where it stopped when it is resumed": async (world) => {
    const { server, endpoint, id } = world;
    const run = idOf(await send(server, "Greeter/steps", { id, count: 2, holdAt: 0 }));
    await endpoint.happens(`${id} step 0`);
    expect((await operate(server, "pause", run)).status).toBe(202);
    endpoint.release(id);
    await until(
      "it to be paused",
      async () => (await tryToOperate(server, "pause", run)).status === 200,
      20_000,
    );
    expect((await ask(server, `output/${run}`)).status).toBe(470);
    expect((await operate(server, "resume", run)).status).toBe(200);
    expect((await ask(server, `attach/${run}`)).status).toBe(200);
    expect([endpoint.count(`${id} step 0`), endpoint.count(`${id} step 1`)]).toEqual([1, 1]);
  },
};
