import { expect } from "vitest";
import { until } from "../support/child.ts";
import { ask, call, operate, send, tryToOperate, value } from "../support/client.ts";
import { idOf, type Promises, type World } from "./_world.ts";

export const retryPromises: Promises = {
  "retries a failing handler until it succeeds": async ({ server, endpoint, id }) => {
    expect(await value(server, "Greeter/flaky", { id, failures: 3 })).toBe(4);
    expect(endpoint.count(`${id} attempt`)).toBe(4);
  },

  "pauses what fails too often, and goes on when it is resumed": async (world) => {
    const { server, endpoint, id } = world;
    const run = idOf(await send(server, "Fragile/pauses", id));
    await endpoint.happens(`${id} attempt`, 2);
    // Longer than any back-off: there is no third attempt.
    await value(server, "Greeter/nap", { id: `${id} clock`, ms: 300 });
    await until("it to be paused", async () => await pause(world, run) === 200, 20_000);
    expect(endpoint.count(`${id} attempt`)).toBe(2);
    endpoint.release(id);
    expect((await operate(server, "resume", run)).status).toBe(200);
    expect(await ask(server, `attach/${run}`)).toMatchObject({ status: 200, body: "healed" });
  },

  "fails what fails too often, where the service asks for that": async (world) => {
    const { server, endpoint, id } = world;
    const { status, body } = await call(server, "Fragile/fails", id);
    expect([status, body]).toEqual([500, expect.objectContaining({ source: "invocation" })]);
    expect(endpoint.count(`${id} attempt`)).toBe(2);
  },

  "begins a retry when the step of the attempt before has ended": async (world) => {
    const { server, id } = world;
    await value(server, "Greeter/busy", { id, ms: BUSY_MS });
    expectTurns(world, 2);
  },

  "gives a key to the next call when the step of the attempt before has ended": async (world) => {
    const { server, endpoint, id } = world;
    const path = `Counter/${id}/busy`;
    const first = value(server, path, { id, ms: BUSY_MS });
    await endpoint.happens(`${id} begins`);
    await Promise.all([first, value(server, path, { id, ms: 0 })]);
    expectTurns(world, 3);
  },
};

/** How long a step runs whose attempt is aborted: much longer than the pause before a retry. */
const BUSY_MS = 1_500;

/** Each step of this id had ended when the next one began, and there were so many, or more. */
function expectTurns({ endpoint, id }: World, least: number): void {
  const begins = `${id} begins`, ends = `${id} ends`;
  const steps = endpoint.lines().filter((one) => one === begins || one === ends);
  expect(steps).toEqual(steps.map((_, index) => index % 2 === 0 ? begins : ends));
  expect(steps.length).toBeGreaterThanOrEqual(2 * least);
}

/** 202 when it will be paused, 200 when it is. */
async function pause({ server }: World, run: string): Promise<number> {
  return (await tryToOperate(server, "pause", run)).status;
}

/** The endpoint is stopped: nobody else can use it meanwhile. */
export const lostEndpointPromises: Promises = {
  "waits for an endpoint that is away": async ({ server, endpoint, id }) => {
    await endpoint.stop();
    expect((await send(server, "Greeter/note", id)).status).toBe(202);
    // Time for some attempts to fail. Whether they do is not what is asked here.
    await new Promise((resolve) => setTimeout(resolve, 200));
    await endpoint.start();
    await endpoint.happens(id);
    expect(endpoint.count(id)).toBe(1);
  },

  "goes on when the endpoint dies in the middle": async ({ server, endpoint, id }) => {
    const answer = value(server, "Greeter/steps", { id, count: 3, holdAt: 1 });
    await endpoint.happens(`${id} step 1`);
    await endpoint.stop();
    endpoint.release(id);
    await endpoint.start();
    expect(await answer).toHaveLength(3);
    expect([endpoint.count(`${id} step 0`), endpoint.count(`${id} step 2`)]).toEqual([1, 1]);
  },
};
