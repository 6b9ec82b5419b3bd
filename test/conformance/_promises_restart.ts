import { expect } from "vitest";
import { call, get, send, value } from "../support/client.ts";
import type { Promises } from "./_suite.ts";

export const restartPromises: Promises = {
  "knows deployments, services and state after a restart": async ({ server, id }) => {
    await value(server, `Counter/${id}/add`, 4);
    const before = (await get(`${server.admin}/deployments`)).body;
    await server.stop("SIGTERM");
    await server.start();
    expect((await get(`${server.admin}/deployments`)).body).toEqual(before);
    expect(await value(server, `Counter/${id}/add`, 1)).toBe(5);
  },

  "goes on after a restart where it stopped": async ({ server, endpoint, id }) => {
    const headers = { "idempotency-key": id };
    const input = { id, count: 3, holdAt: 1 };
    await send(server, "Greeter/steps", input, { headers });
    await endpoint.happens(`${id} step 1`);
    await server.crash();
    endpoint.release(id);
    const { status, body } = await call(server, "Greeter/steps", input, { headers });
    expect([status, (body as unknown[]).length]).toEqual([200, 3]);
    expect([endpoint.count(`${id} step 0`), endpoint.count(`${id} step 2`)]).toEqual([1, 1]);
  },

  "wakes a sleeper after a restart": async ({ server, endpoint, id }) => {
    await send(server, "Greeter/nap", { id, ms: 700 });
    await endpoint.happens(`${id} asleep`);
    await server.crash();
    await endpoint.happens(`${id} after`);
    expect([endpoint.count(`${id} before`), endpoint.count(`${id} after`)]).toEqual([1, 1]);
  },

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
