import { expect } from "vitest";
import { until } from "../support/child.ts";
import { ask, manage, send } from "../support/client.ts";
import { idOf, type Promises, type World } from "./_world.ts";

/** Changes what operators set of a service or a handler. */
async function set({ server }: World, path: string, body: unknown): Promise<void> {
  const answer = await manage(server, `PATCH /services/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function sendHolds({ server, id }: World, count: number): Promise<string[]> {
  const runs: string[] = [];
  for (let i = 0; i < count; i++) {
    runs.push(idOf(await send(server, `Counter/${id}-${i}/hold`, `${id}-${i}`)));
  }
  return runs;
}

/** How many of them have begun. */
function begun({ endpoint, id }: World, count: number): number {
  return Array.from({ length: count }, (_, i) => endpoint.count(`${id}-${i} hold`))
    .filter((times) => times > 0).length;
}

async function results({ server }: World, runs: readonly string[]): Promise<void> {
  for (const run of runs) expect((await ask(server, `attach/${run}`)).status).toBe(200);
}

export const limitPromises: Promises = {
  "runs no more of a handler at once than its limit": async (world) => {
    const { endpoint, id } = world;
    await set(world, "Counter/handlers/hold", { concurrency: 2 });
    const runs = await sendHolds(world, 5);
    await until("two to begin", () => begun(world, 5) === 2);
    await set(world, "Counter/handlers/hold", { concurrency: 3 });
    await until("a third one to begin", () => begun(world, 5) === 3);
    for (let i = 0; i < 5; i++) endpoint.release(`${id}-${i}`);
    await results(world, runs);
    await set(world, "Counter/handlers/hold", { concurrency: null });
  },

  "keeps what is sent to a paused service until it goes on": async (world) => {
    const { server, endpoint, id } = world;
    await set(world, "Counter", { paused: true });
    const waiting = idOf(await send(server, `Counter/${id}/hold`, id));
    expect((await ask(server, `output/${waiting}`)).status).toBe(470);
    expect(endpoint.count(`${id} hold`)).toBe(0);
    await set(world, "Counter", { paused: false });
    await endpoint.happens(`${id} hold`);
    endpoint.release(id);
    await results(world, [waiting]);
  },

  "starts no more in a time than a rate allows": async (world) => {
    const { endpoint, id } = world;
    await set(world, "Counter/handlers/hold", { rate: { count: 10, period: "1s", burst: 1 } });
    for (let i = 0; i < 4; i++) endpoint.release(`${id}-${i}`);
    const since = Date.now();
    await results(world, await sendHolds(world, 4));
    expect(Date.now() - since).toBeGreaterThanOrEqual(300);
    await set(world, "Counter/handlers/hold", { rate: null });
  },
};
