import { expect } from "vitest";
import { attach, call, send } from "./_ask.ts";
import { until } from "../support/child.ts";
import { query, started } from "./_scoped.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

const AGING_MS = 300;
const CALLERS = 16;
const LOWEST = 0, HIGHEST = 9;

const priorityOf = ({ target }: World, priority: number) => ({
  headers: { [target.header("priority")]: String(priority) },
});

/** Sends to `hold` one after the other, so that each waits for a slot. */
async function sendHolds(world: World, names: readonly string[], priority?: number) {
  const { target, named } = world;
  const ask = priority === undefined ? {} : priorityOf(world, priority);
  const ids = [];
  for (const name of names) ids.push(await send(target, `${named("Plain")}/hold`, name, ask));
  return ids;
}

const ordered: Check = async (world) => {
  const { target, endpoint, id } = world;
  const numbered = (word: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${id}-${word}${i}`);
  const first = numbered("first", 1);
  const low = numbered("low", 20), usual = numbered("usual", 3), high = numbered("high", 2);
  const ids = await sendHolds(world, first);
  await endpoint.happens(`${first[0]} hold`);
  ids.push(...await sendHolds(world, low, LOWEST));
  ids.push(...await sendHolds(world, usual), ...await sendHolds(world, high, HIGHEST));
  const order = [...first, ...high, ...usual, ...low];
  for (const name of order) endpoint.release(name);
  for (const one of ids) await attach(target, one);
  expect(started(world, order)).toEqual(order);
};

const aged: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const low = `${id}-low`, first = `${id}-first`;
  await sendHolds(world, [first]);
  await endpoint.happens(`${first} hold`);
  const [waiting = ""] = await sendHolds(world, [low], LOWEST);
  let isOver = false;
  let served = 0;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isOver) {
      await call(target, `${named("Plain")}/echo`, id, priorityOf(world, HIGHEST));
      served++;
    }
  });
  endpoint.release(low);
  try {
    await until("all others to wait", async () => {
      const sql = "select count(*) as n from sys_invocation where status = 'ready'";
      return (await query(target, sql))[0]?.["n"] === CALLERS + 1;
    });
    endpoint.release(first);
    await until("the lowest priority to run", () => endpoint.count(`${low} hold`) > 0, 10_000);
  } finally {
    isOver = true;
    await Promise.all(callers);
  }
  expect((await attach(target, waiting)).body).toBe(low);
  // Those of the highest went first meanwhile, so it did not run because nothing else waited.
  expect(served).toBeGreaterThan(CALLERS);
};

const SLOT = { "worker.invoker.concurrent-invocations-limit": "1" };

protocolSuite("slots by priority", {
  "69d a free slot goes to the highest priority, and within one to the first to come": ordered,
}, { options: { ...SLOT, "worker.invoker.priority-aging": "1h" }, isSequential: true });

protocolSuite("slots by priority, with aging", {
  "69e a lower priority runs at last, whatever comes of a higher one": aged,
}, { options: { ...SLOT, "worker.invoker.priority-aging": `${AGING_MS}ms` }, isSequential: true });
