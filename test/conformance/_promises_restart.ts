import { expect } from "vitest";
import { ask, call, get, manage, send, value } from "../support/client.ts";
import { idOf, type Promises } from "./_world.ts";

export const restartPromises: Promises = {
  "knows deployments, services and state after a restart": async ({ server, id }) => {
    await value(server, `Counter/${id}/add`, 4);
    const before = (await get(`${server.admin}/deployments`)).body;
    await server.stop("SIGTERM");
    await server.start();
    expect((await get(`${server.admin}/deployments`)).body).toEqual(before);
    expect(await value(server, `Counter/${id}/add`, 1)).toBe(5);
  },

  "knows rules, limits and pauses after a restart": async ({ server, id }) => {
    const rule = { pattern: id, limits: { rate: { count: 5, period: "1h", burst: 9 } } };
    const { status, body: made } = await manage(server, "PUT /limits/rules", [rule]);
    expect([status, made]).toEqual([200, [expect.objectContaining(rule)]]);
    const limits = { concurrency: 1_000_000, paused: true };
    expect((await manage(server, "PATCH /services/Inner", limits)).body).toMatchObject(limits);
    await server.crash();
    expect((await get(`${server.admin}/services/Inner`)).body).toMatchObject(limits);
    const again = { ...rule, precondition: { type: "does_not_exist" } };
    expect((await manage(server, "PUT /limits/rules", [again])).status).toBe(409);
    expect((await manage(server, "PUT /limits/rules", [rule])).body).toEqual(made);
    const none = { concurrency: null, paused: false };
    expect((await manage(server, "PATCH /services/Inner", none)).body).not.toHaveProperty("paused");
    const removed = await manage(server, "POST /limits/rules/bulk-delete", [{ pattern: id }]);
    expect(removed.body).toEqual([id]);
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

  "keeps a workflow, its promise and who waits for it across a restart": async (world) => {
    const { server, endpoint, id } = world;
    const run = idOf(await send(server, `Flow/${id}/run`, id));
    const waiter = idOf(await send(server, `Flow/${id}/wait`));
    await endpoint.happens(`${id} run`);
    await server.crash();
    expect(await value(server, `Flow/${id}/resolve`, { a: 1 })).toEqual({ value: null });
    expect((await ask(server, `attach/${run}`)).body).toEqual({ id, value: { a: 1 } });
    expect((await ask(server, `attach/${waiter}`)).body).toEqual({ value: { a: 1 } });
    expect((await call(server, `Flow/${id}/run`, id)).status).toBe(409);
  },

  "keeps awakeables, resolved or not, across a restart": async ({ server, endpoint, id }) => {
    const run = idOf(await send(server, "Waiter/awakeables", { id, count: 2 }));
    const [first, second] = [
      await endpoint.announces(`${id} awakeable 0`),
      await endpoint.announces(`${id} awakeable 1`),
    ];
    expect((await ask(server, `awakeables/${second}/resolve`, 2)).status).toBe(202);
    await server.crash();
    expect((await ask(server, `awakeables/${first}/resolve`, 1)).status).toBe(202);
    expect((await ask(server, `attach/${run}`)).body).toEqual([{ value: 1 }, { value: 2 }]);
  },

  "remembers results, keys and delayed ones across a restart": async (world) => {
    const { server, endpoint, id } = world;
    const headers = { "idempotency-key": id };
    const done = await call(server, "Greeter/note", id, { headers });
    const later = idOf(await send(server, "Greeter/note", `${id} later`, { query: "delay=1s" }));
    await server.crash();
    const again = await call(server, "Greeter/note", id, { headers });
    expect(again.headers.get("x-svc-id")).toBe(done.headers.get("x-svc-id"));
    expect((await ask(server, `attach/${later}`)).status).toBe(200);
    expect([endpoint.count(id), endpoint.count(`${id} later`)]).toEqual([1, 1]);
  },
};
