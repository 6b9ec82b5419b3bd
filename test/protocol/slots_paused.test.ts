import { expect } from "vitest";
import { attach, operate, request, send } from "./_ask.ts";
import { FLOW_CONTROL, query, sendHolds, started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

/** One runs and takes the only slot of the invoker; then others wait for it. */
async function occupied(world: World): Promise<{ readonly free: () => Promise<void> }> {
  const { target, endpoint, named, id } = world, name = `${id}-runs`;
  const running = await send(target, `${named("Plain")}/hold`, name);
  await endpoint.happens(`${name} hold`);
  return {
    free: async () => {
      endpoint.release(name);
      expect((await attach(target, running)).body).toBe(name);
    },
  };
}

/** The reference shows it as one that waits for a limit. */
async function isReady(world: World, id: string): Promise<void> {
  await until(`${id} to wait for a slot`, async () => {
    const [row] = await query(world.target, `select status from sys_invocation where id = '${id}'`);
    return row?.["status"] === "ready" || row?.["status"] === "pending";
  });
}

const service: Check = async (world) => {
  const { target, endpoint, named, id } = world, name = `${id}-waits`, other = `${id}-other`;
  const { free } = await occupied(world);
  const waiting = await send(target, `${named("Slow")}/hold`, name);
  await isReady(world, waiting);
  const pause = async (paused: boolean) => {
    const path = `${target.admin}/services/${named("Slow")}`;
    expect((await request("PATCH", path, { body: { paused } })).status).toBe(200);
  };
  await pause(true);
  await free();
  // The slot goes to whoever comes next, once the one that is paused was offered it.
  endpoint.release(other);
  const next = await send(target, `${named("Plain")}/hold`, other);
  expect((await attach(target, next)).body).toBe(other);
  expect(started(world, [name])).toEqual([]);
  const [row] = await query(target, `select status from sys_invocation where id = '${waiting}'`);
  expect(row?.["status"]).toBe("pending");
  await pause(false);
  endpoint.release(name);
  expect((await attach(target, waiting)).body).toBe(name);
};

const killed: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const { free } = await occupied(world);
  const names = ["one", "two"].map((word) => `${id}-${word}`), ids: string[] = [];
  for (const name of names) ids.push(await send(target, `${named("Plain")}/hold`, name));
  for (const one of ids) await isReady(world, one);
  expect((await operate(target, "kill", ids[0]!)).status).toBeLessThan(300);
  await free();
  await endpoint.happens(`${names[1]} hold`);
  endpoint.release(names[1]!);
  expect((await attach(target, ids[1]!)).body).toBe(names[1]);
  expect(started(world, names)).toEqual([names[1]]);
};

const queue: Check = async (world) => {
  const { target, endpoint, named, transport, id } = world, scope = `q${transport}${id}`;
  // A queue is known once something was in it.
  const first = await sendHolds(world, scope, 1);
  endpoint.release(first.names[0]!);
  await attach(target, first.ids[0]!);
  const { free } = await occupied(world);
  const again = { ...world, id: `${id}-again` };
  const { names, ids } = await sendHolds(again, scope, 1);
  const where = `select vqueue_id as queue from sys_invocation where id = '${ids[0]}'`;
  const [row] = await query(target, where);
  const path = `${target.admin}/vqueues/${row?.["queue"]}`;
  expect((await request("POST", `${path}/pause`)).status).toBe(202);
  await free();
  const other = `${id}-other`;
  endpoint.release(other);
  const next = await send(target, `${named("Plain")}/hold`, other);
  expect((await attach(target, next)).body).toBe(other);
  expect(started(world, names)).toEqual([]);
  expect((await request("POST", `${path}/resume`)).status).toBe(202);
  endpoint.release(names[0]!);
  expect((await attach(target, ids[0]!)).body).toBe(names[0]);
};

protocolSuite("slots and pauses", {
  "107b a paused service takes no slot of the invoker that it waited for": service,
  "115b a paused queue takes no slot of the invoker that it waited for": queue,
  "124b who is killed while it waits for a slot of the invoker takes none": killed,
}, {
  options: { ...FLOW_CONTROL, "worker.invoker.concurrent-invocations-limit": "1" },
  isSequential: true,
});
