import { expect } from "vitest";
import { value } from "../support/client.ts";
import type { Promises } from "./_world.ts";

export const stepPromises: Promises = {
  "does not run a finished step again when a later one fails": async (world) => {
    const { server, endpoint, id } = world;
    expect(await value(server, "Greeter/flakyStep", { id, failures: 2 })).toBe("done");
    expect([endpoint.count(`${id} before`), endpoint.count(`${id} after`)]).toEqual([1, 1]);
    expect(endpoint.count(`${id} middle`)).toBe(3);
  },

  "runs many steps, each once": async ({ server, endpoint, id }) => {
    const seen = await value(server, "Greeter/steps", { id, count: 40 });
    expect(seen).toHaveLength(40);
    for (let i = 0; i < 40; i++) expect(endpoint.count(`${id} step ${i}`)).toBe(1);
  },

  "keeps the terminal error of a step": async ({ server, endpoint, id }) => {
    expect(await value(server, "Greeter/refuseStep", id)).toBe("caught 409 no");
    expect(endpoint.count(`${id} refused`)).toBe(1);
  },

  "suspends a caller whose callee takes long, and wakes it": async ({ server, endpoint, id }) => {
    const call = value(server, `Counter/${id}/slowAdd`, { delta: 1, ms: 800 });
    const relay = value(server, "Greeter/callCounter", { key: id, delta: 1 });
    expect((await Promise.all([call, relay])).toSorted()).toEqual([1, 2]);
    expect(endpoint.count(`${id} out`)).toBe(1);
  },

  "draws the same random numbers in every attempt": async ({ server, endpoint, id }) => {
    await value(server, "Waiter/draw", id);
    const drawn = endpoint.lines().filter((line) => line.startsWith(`${id} drew `));
    expect([drawn.length, new Set(drawn).size]).toEqual([2, 1]);
  },
};
