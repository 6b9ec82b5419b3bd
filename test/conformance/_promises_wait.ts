import { expect } from "vitest";
import { ask, call, send, value } from "../support/client.ts";
import { idOf, type Promises } from "./_world.ts";

export const sleepPromises: Promises = {
  "sleeps as long as it was told, and no step runs again": async ({ server, endpoint, id }) => {
    const begun = Date.now();
    await value(server, "Greeter/nap", { id, ms: 150 });
    expect(Date.now() - begun).toBeGreaterThanOrEqual(150);
    expect([endpoint.count(`${id} before`), endpoint.count(`${id} after`)]).toEqual([1, 1]);
  },

  "suspends a long sleeper and wakes it": async ({ server, endpoint, id }) => {
    // Three times as long as a stream may be silent, so it suspends over either transport.
    await value(server, "Greeter/nap", { id, ms: 1000 });
    expect([endpoint.count(`${id} before`), endpoint.count(`${id} after`)]).toEqual([1, 1]);
  },

  "sleeps many times at once": async ({ server }) => {
    expect(await value(server, "Greeter/naps", [5, 50, 100, 0, 5, 20])).toBe(6);
  },
};

export const workflowPromises: Promises = {
  "runs a workflow once for an id, and keeps its result": async ({ server, endpoint, id }) => {
    await value(server, `Flow/${id}/resolve`, "early");
    expect(await value(server, `Flow/${id}/run`, id)).toEqual({ id, value: "early" });
    expect((await call(server, `Flow/${id}/run`, id)).status).toBe(409);
    expect((await ask(server, `workflow/Flow/${id}/output`)).body).toEqual({ id, value: "early" });
    expect(endpoint.count(`${id} run`)).toBe(1);
  },

  "keeps a promise for all who wait for it": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, `Flow/${id}/run`, id));
    const waiter = value(server, `Flow/${id}/wait`);
    await endpoint.happens(`${id} run`);
    expect(await value(server, `Flow/${id}/peek`)).toBeNull();
    expect(await value(server, `Flow/${id}/resolve`, { a: 1 })).toEqual({ value: null });
    expect(await value(server, `Flow/${id}/peek`)).toEqual({ a: 1 });
    expect((await ask(server, `attach/${run}`)).body).toEqual({ id, value: { a: 1 } });
    expect(await waiter).toEqual({ value: { a: 1 } });
    expect(await value(server, `Flow/${id}/resolve`, 2)).toMatchObject({ code: 409 });
  },

  "breaks a promise for all who wait for it": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, `Flow/${id}/run`, id));
    await endpoint.happens(`${id} run`);
    await value(server, `Flow/${id}/reject`, "no go");
    const broken = { code: 500, message: "no go" };
    expect((await ask(server, `attach/${run}`)).body).toEqual({ id, ...broken });
    expect(await value(server, `Flow/${id}/wait`)).toEqual(broken);
  },
};

export const awakeablePromises: Promises = {
  "is resolved and rejected from outside": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/awakeables", { id, count: 2 }));
    const [first, second] = [
      await endpoint.announces(`${id} awakeable 0`),
      await endpoint.announces(`${id} awakeable 1`),
    ];
    expect((await ask(server, `awakeables/${second}/reject`, "no way")).status).toBe(202);
    expect((await ask(server, `awakeables/${first}/resolve`, { a: 1 })).status).toBe(202);
    expect((await ask(server, `attach/${run}`)).body).toEqual([
      { value: { a: 1 } },
      { code: 500, message: "no way" },
    ]);
  },

  "is resolved and rejected by handlers": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/awakeables", { id, count: 2 }));
    const awakeable = await endpoint.announces(`${id} awakeable 0`);
    const other = await endpoint.announces(`${id} awakeable 1`);
    await value(server, "Waiter/reject", { awakeable: other, reason: "not in" });
    await value(server, "Waiter/resolve", { awakeable, value: "in" });
    expect((await ask(server, `attach/${run}`)).body).toEqual([
      { value: "in" },
      { code: 500, message: "not in" },
    ]);
  },
};

export const signalPromises: Promises = {
  "brings signals by name, in whatever order they come": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/signals", { id, names: ["a", "b"] }));
    await endpoint.happens(`${id} started`);
    await value(server, "Waiter/sendSignal", { target: run, name: "b", reason: "no b" });
    await value(server, "Waiter/sendSignal", { target: run, name: "a", value: "an a" });
    expect((await ask(server, `attach/${run}`)).body).toEqual([
      { value: "an a" },
      { code: 500, message: "no b" },
    ]);
  },

  "keeps a signal for one that has not begun": async ({ server, id }) => {
    const query = "delay=600ms";
    const run = idOf(await send(server, "Waiter/signals", { id, names: ["a"] }, { query }));
    await value(server, "Waiter/sendSignal", { target: run, name: "a", value: "kept" });
    expect((await ask(server, `attach/${run}`)).body).toEqual([{ value: "kept" }]);
  },
};
