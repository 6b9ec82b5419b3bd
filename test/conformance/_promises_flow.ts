import { expect } from "vitest";
import { printQueueId } from "../../src/model/queue.ts";
import { until } from "../support/child.ts";
import { type Answer, ask, get, manage } from "../support/client.ts";
import { idOf, type Promises, type World } from "./_world.ts";

/** Calls or sends in a scope. `path`: with its query, which may have a limit key and a priority. */
async function inScope(
  { server }: World,
  [verb, scope, path]: readonly [verb: "call" | "send", scope: string, path: string],
  body: unknown,
): Promise<Answer> {
  const response = await fetch(`${server.ingress}/svc/scope/${scope}/${verb}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  return { status, headers, body: await response.json() };
}

/** A scope that no other test has. */
const scopeOf = ({ id }: World) => `s-${id}`;

/** Sends to a handler that is held until its name is released. Answers the invocation. */
async function hold(world: World, name: string, query = "", scope = scopeOf(world)) {
  return idOf(await inScope(world, ["send", scope, `Greeter/hang${query}`], name));
}

async function manages({ server }: World, request: string, body: unknown): Promise<void> {
  const answer = await manage(server, request, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
}

const setRule = (world: World, pattern: string, limits: object) =>
  manages(world, "PUT /limits/rules", [{ pattern, limits }]);

/** Those of these names that have begun, in their order. */
function begun({ endpoint }: World, names: readonly string[]): string[] {
  const lines = endpoint.lines().filter((line) => line.endsWith(" hang"))
    .map((line) => line.slice(0, -" hang".length));
  return [...new Set(lines)].filter((name) => names.includes(name));
}

const named = ({ id }: World, ...words: readonly string[]) => words.map((one) => `${id}-${one}`);

async function completes({ server, endpoint }: World, names: readonly string[], ids: string[]) {
  for (const name of names) endpoint.release(name);
  for (const id of ids) expect((await ask(server, `attach/${id}`)).status).toBe(200);
}

/** An invocation is accepted, and begins no earlier than `resume` is called. */
async function waitsUntil(world: World, resume: () => Promise<void>): Promise<void> {
  const { server, endpoint } = world;
  const [name = ""] = named(world, "waits");
  const id = await hold(world, name);
  expect((await ask(server, `output/${id}`)).status).toBe(470);
  expect(begun(world, [name])).toEqual([]);
  await resume();
  await endpoint.happens(`${name} hang`);
  await completes(world, [name], [id]);
}

/** The same key in two scopes, and in none. */
const apart: Promises = {
  "keeps objects and idempotency keys of scopes apart": async (world) => {
    const { server, id } = world;
    const add = (scope: string, by: number) =>
      inScope(world, ["call", scope, `Counter/${id}/add`], by);
    expect((await add(`a-${id}`, 1)).body).toBe(1);
    expect((await add(`b-${id}`, 10)).body).toBe(10);
    expect((await ask(server, `call/Counter/${id}/add`, 100)).body).toBe(100);
    expect((await add(`a-${id}`, 2)).body).toBe(3);
  },
};

const rules: Promises = {
  "runs no more of a scope, and of a limit key in it, than rules allow": async (world) => {
    const scope = scopeOf(world);
    await setRule(world, scope, { concurrency: 3 });
    await setRule(world, `${scope}/*`, { concurrency: 1 });
    const names = named(world, "a1", "a2", "b1", "none1", "none2");
    const keys = ["?limit-key=a", "?limit-key=a", "?limit-key=b", "", ""];
    const ids: string[] = [];
    for (const [i, name] of names.entries()) ids.push(await hold(world, name, keys[i]));
    const [a1 = "", , b1 = "", none1 = ""] = names;
    await until("three to begin", () => begun(world, names).length === 3);
    expect(begun(world, names).toSorted()).toEqual([a1, b1, none1].toSorted());
    // A raised limit is felt at once.
    await setRule(world, scope, { concurrency: 4 });
    await until("a fourth to begin", () => begun(world, names).length === 4);
    await setRule(world, `${scope}/*`, { concurrency: 2 });
    await setRule(world, scope, {});
    await until("all to begin", () => begun(world, names).length === 5);
    await completes(world, names, ids);
  },

  "applies a batch of rules as a whole, or nothing of it": async (world) => {
    const { server } = world, scope = scopeOf(world);
    const batch = [
      { pattern: scope, limits: { concurrency: 1 } },
      { pattern: `${scope}/a`, precondition: { type: "matches", version: 1_000_000 } },
    ];
    const refused = await manage(server, "PUT /limits/rules", batch);
    expect(refused.status, JSON.stringify(refused.body)).toBe(409);
    const names = named(world, "one", "two");
    const ids = [await hold(world, names[0]!), await hold(world, names[1]!)];
    await until("both to begin", () => begun(world, names).length === 2);
    await completes(world, names, ids);
  },

  "starts no more of a scope in a time than the rate of its rule": async (world) => {
    const { endpoint } = world;
    await setRule(world, scopeOf(world), { rate: { count: 10, period: "1s", burst: 1 } });
    const names = named(world, "1", "2", "3", "4");
    for (const name of names) endpoint.release(name);
    const since = Date.now();
    const ids: string[] = [];
    for (const name of names) ids.push(await hold(world, name));
    await completes(world, names, ids);
    expect(Date.now() - since).toBeGreaterThanOrEqual(300);
  },

  "starts what waits by its priority, and within one in order": async (world) => {
    await setRule(world, scopeOf(world), { concurrency: 1 });
    const names = named(world, "first", "low", "usual1", "usual2", "high");
    const [first = "", low = "", usual1 = "", usual2 = "", high = ""] = names;
    const priorities = ["", "?priority=0", "", "", "?priority=9"];
    const ids: string[] = [];
    for (const [i, name] of names.entries()) ids.push(await hold(world, name, priorities[i]));
    await world.endpoint.happens(`${first} hang`);
    await completes(world, names, ids);
    expect(begun(world, names)).toEqual([first, high, usual1, usual2, low]);
  },
};

const pauses: Promises = {
  "keeps what is sent to a paused deployment until it goes on": async (world) => {
    const { body } = await get(`${world.server.admin}/deployments`);
    const { deployments } = body as { readonly deployments: readonly { readonly id: string }[] };
    const paused = (isPaused: boolean) =>
      manages(world, `PATCH /deployments/${deployments[0]?.id}`, { paused: isPaused });
    await paused(true);
    await waitsUntil(world, () => paused(false));
  },

  "keeps what is sent to a paused virtual queue until it goes on": async (world) => {
    const queue = { service: "Greeter", scope: scopeOf(world), limitKey: undefined };
    const path = `/vqueues/${printQueueId(queue)}`;
    const others = named(world, "other");
    await manages(world, `POST ${path}/pause`, undefined);
    // Another queue of the same service goes on.
    const other = await hold(world, others[0]!, "", `other-${world.id}`);
    await until("the other queue to go on", () => begun(world, others).length === 1);
    await completes(world, others, [other]);
    await waitsUntil(world, () => manages(world, `POST ${path}/resume`, undefined));
  },
};

const crashes: Promises = {
  "holds slots, and what waits, over a crash": async (world) => {
    const { server } = world;
    await setRule(world, scopeOf(world), { concurrency: 1 });
    const names = named(world, "1", "2", "3");
    const ids: string[] = [];
    for (const name of names) ids.push(await hold(world, name));
    await until("the first to begin", () => begun(world, names).length === 1);
    await server.crash();
    const [first = "", second = ""] = names;
    await world.endpoint.happens(`${first} hang`, 2);
    expect(begun(world, names)).toEqual([first]);
    world.endpoint.release(first);
    await until("the second to begin", () => begun(world, names).length === 2);
    expect(begun(world, names)).toEqual([first, second]);
    await completes(world, names, ids);
    expect(begun(world, names)).toEqual(names);
  },
};

/** What calls in scopes, rules, priorities and pauses promise. They need the settings of flow control. */
export const flowPromises: Promises = { ...apart, ...rules, ...pauses, ...crashes };
