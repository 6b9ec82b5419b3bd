import { expect } from "vitest";
import { attach, request, send } from "./_ask.ts";
import { started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

async function limit({ target, named }: World, body: unknown): Promise<void> {
  const path = `${target.admin}/services/${named("Plain")}`;
  const answer = await request("PATCH", path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

/** Sends to `hold`. The ids are random, so they are in all partitions. */
async function holds({ target, named, id }: World, count: number) {
  const names = Array.from({ length: count }, (_, i) => `${id}-p${i}`);
  const ids = await Promise.all(names.map((name) => send(target, `${named("Plain")}/hold`, name)));
  return { names, ids };
}

/** Ends one after the other. Never are more than `most` at the endpoint. */
async function endAll(
  world: World,
  { names, ids }: Awaited<ReturnType<typeof holds>>,
  { most, crashAfter = [] }: { readonly most: number; readonly crashAfter?: readonly number[] },
): Promise<void> {
  const ended = new Set<string>();
  const running = () => new Set(started(world, names).filter((name) => !ended.has(name)));
  while (ended.size < names.length) {
    const left = names.length - ended.size;
    await until(`${left} to go on`, () => running().size >= Math.min(most, left));
    expect(running().size).toBeLessThanOrEqual(most);
    if (crashAfter.includes(ended.size)) await world.target.restart();
    const [name = ""] = running();
    // Before it can end: another one may start as soon as it has.
    ended.add(name);
    world.endpoint.release(name);
  }
  for (const id of ids) expect((await attach(world.target, id)).status).toBe(200);
}

const several: Check = async (world) => {
  await limit(world, { concurrency: 3 });
  await endAll(world, await holds(world, 20), { most: 3 });
  await limit(world, { concurrency: null });
};

const single: Check = async (world) => {
  await limit(world, { concurrency: 1 });
  await endAll(world, await holds(world, 8), { most: 1 });
  await limit(world, { concurrency: null });
};

const crashed: Check = async (world) => {
  await limit(world, { concurrency: 3 });
  await endAll(world, await holds(world, 20), { most: 3, crashAfter: [2, 9, 15] });
  await limit(world, { concurrency: null });
};

const rated: Check = async (world) => {
  const { endpoint, target } = world;
  await limit(world, { rate: { count: 10, period: "1s", burst: 2 } });
  const { names, ids } = await holds(world, 12);
  for (const name of names) endpoint.release(name);
  await Promise.all(ids.map((id) => attach(target, id)));
  const opened = ids.map((id) => endpoint.attempts(id)[0]?.openedAt ?? 0).sort((a, b) => a - b);
  // Two at once, then one every 100 ms. The first one may have been the latest on its way.
  for (const [i, at] of opened.entries()) {
    expect(at - opened[0]!).toBeGreaterThanOrEqual((i - 3) * 100);
  }
  await limit(world, { rate: null });
};

protocolSuite("limits of services over several partitions", {
  "130 partitions never run more together than the limit, and all ends": several,
  "131 a limit of one moves through all partitions": single,
  "132 also through crashes": crashed,
  "133 partitions share a rate": rated,
}, {
  options: { "default-num-partitions": "4" },
  isSequential: true,
  transports: ["h2"],
});
