import { expect } from "vitest";
import { attach, awakeable, send, value } from "./_ask.ts";
import { type Check, protocolSuite } from "./_suite.ts";
import { namesOf, startOf } from "./_wire.ts";

const slept: Check = async ({ target, endpoint, named, id }) => {
  const startedAt = Date.now();
  const invocation = await send(target, `${named("Sleepy")}/nap`, { id, ms: 1_000 });
  await endpoint.suspends(invocation);
  await target.restart();
  expect((await attach(target, invocation)).body).toBe(id);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
  expect([endpoint.count(`${id} before`), endpoint.count(`${id} after`)]).toEqual([1, 1]);
  const last = endpoint.attempts(invocation).at(-1);
  expect(namesOf(last, "in").filter((name) => name === "SleepCompletion")).toHaveLength(1);
};

const delayed: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain"), askedAt = Date.now();
  const later = { service, method: "nap", parameter: { id, ms: 1 }, delay: 800 };
  const [invocation = ""] = await value(target, `${service}/sends`, [later]) as string[];
  const byHand = await send(target, `${service}/echo`, id, { query: "delay=800ms" });
  await target.restart();
  expect((await attach(target, invocation)).body).toBe(id);
  expect((await attach(target, byHand)).body).toBe(id);
  expect(endpoint.count(`${id} before`)).toBe(1);
  const [first] = endpoint.attempts(invocation);
  expect(first?.openedAt).toBeGreaterThanOrEqual(askedAt + 800);
};

const promised: Check = async ({ target, endpoint, named, id }) => {
  const flow = `${named("SleepyFlow")}/${id}`;
  const run = await send(target, `${flow}/run`, id);
  await endpoint.happens(`${id} run`);
  await endpoint.suspends(run);
  await target.restart();
  expect(await value(target, `${flow}/resolve`, 1)).toEqual({ value: null });
  await target.restart();
  expect((await attach(target, run)).body).toEqual({ id, value: 1 });
  expect(await value(target, `${flow}/peek`)).toBe(1);
};

const awakened: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 2 });
  const ids = [];
  for (const i of [0, 1]) ids.push(await endpoint.announces(`${id} awakeable ${i}`));
  await endpoint.suspends(invocation);
  await awakeable(target, ids[0] ?? "", "resolve", "before");
  await target.restart();
  await awakeable(target, ids[1] ?? "", "resolve", "after");
  expect((await attach(target, invocation)).body).toEqual([
    { value: "before" },
    { value: "after" },
  ]);
};

const attached: Check = async ({ target, endpoint, named, id }) => {
  const held = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
  const made = await endpoint.announces(`${id} awakeable 0`);
  const waiter = await send(target, `${named("Sleepy")}/attach`, held);
  await endpoint.suspends(held);
  await endpoint.suspends(waiter);
  await target.restart();
  await awakeable(target, made, "resolve", id);
  expect((await attach(target, waiter)).body).toEqual({ value: [{ value: id }] });
};

const killed: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Plain")}/steps`, {
    id,
    names: ["a", "b"],
    hold: ["b"],
  });
  await endpoint.happens(`${id} b`);
  // What was said before this was answered is stored.
  await value(target, `${named("Plain")}/nap`, { id: `${id}-clock`, ms: 50 });
  const before = endpoint.attempts(invocation).length;
  const seed = startOf(endpoint.attempts(invocation)[0]).randomSeed;
  await target.restart();
  endpoint.release(`${id}-b`);
  expect((await attach(target, invocation)).body).toEqual(["a-1", "b-2"]);
  const next = endpoint.attempts(invocation)[before];
  const replayed = ["Start", "InputCommand", "RunCommand", "RunCompletion", "RunCommand"];
  expect(namesOf(next, "in").slice(0, 5)).toEqual(replayed);
  const start = startOf(next);
  expect([start.knownEntries, start.retryCountSinceLastStoredEntry, start.randomSeed])
    .toEqual([4, 0, seed]);
};

protocolSuite("crashes", {
  "35b a delayed send survives a crash": delayed,
  "38c a sleep survives a crash, and is completed once": slept,
  "39e a promise survives a crash, and so does who awaits it": promised,
  "40c an awakeable survives a crash, and so does its value": awakened,
  "44b an attach survives a crash": attached,
  "88 after a crash all that was stored is replayed in order, with the same seed": killed,
}, { isSequential: true });
