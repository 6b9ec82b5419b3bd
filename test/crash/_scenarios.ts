import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { until } from "../support/child.ts";
import { callOnce, operate, sendOnce, untilAnswered } from "./_retry.ts";
import type { Load } from "./_load.ts";

/** Something a client wants done under an id of its own. Throws when it was not done right. */
export type Scenario = (load: Load, id: string) => Promise<void>;

async function steps(load: Load, id: string): Promise<void> {
  const result = await load.work("steps", id, { id, count: 2 + load.under(10) });
  load.checkSteps(id, result as unknown[]);
}

async function callsBetweenHandlers(load: Load, id: string): Promise<void> {
  const key = load.counter(), count = 1 + load.under(4);
  load.owe(key, count);
  await load.work("callSum", id, { key, count });
}

async function delayedSends(load: Load, id: string): Promise<void> {
  const key = load.counter(), count = 1 + load.under(4);
  load.owe(key, count);
  await load.work("sendSum", id, { key, count, delayMs: load.under(500) });
}

/** Where only the lock keeps others from coming in between. */
async function slowAdd(load: Load, id: string): Promise<void> {
  const key = load.counter(), delta = 1 + load.under(5);
  load.owe(key, delta);
  const body = { id, delta, ms: load.under(20) };
  const { status } = await callOnce(load.server, `Sum/${key}/slowAdd`, { body, key: id });
  expect(status).toBe(200);
}

async function awakeable(load: Load, id: string): Promise<void> {
  const key = load.counter(), delta = 1 + load.under(5), isRejected = load.chance() < 0.3;
  await load.start("awaken", id, { id, key });
  const awakeable = await load.notes.value(id, "awakeable");
  const end = `${load.server.ingress}/svc/awakeables/${awakeable}`;
  const first = isRejected
    ? untilAnswered(`${end}/reject`, { body: "no" })
    : untilAnswered(`${end}/resolve`, { body: delta });
  const { status } = await first;
  expect(status).toBe(202);
  if (!isRejected) load.owe(key, delta);
  // Too late: the first one counts.
  await untilAnswered(`${end}/resolve`, { body: 1_000_000 });
  const { body } = await load.result("awaken", id);
  expect(body, id).toBe(isRejected ? `rejected: "no"` : delta);
}

async function signals(load: Load, id: string): Promise<void> {
  const key = load.counter(), values = [load.under(9), load.under(9)] as const;
  load.owe(key, values[0] + values[1]);
  const target = await load.start("listen", id, { id, key });
  if (load.chance() < 0.5) await load.notes.value(id, "listening");
  await Promise.all([
    load.work("tell", `${id}-first`, { target, name: "first", value: values[0] }),
    load.work("tell", `${id}-second`, { target, name: "second", value: values[1] }),
  ]);
  const { body } = await load.result("listen", id);
  expect(body, id).toEqual(values);
}

async function workflow(load: Load, id: string): Promise<void> {
  const { server } = load, key = load.counter(), target = flowOf(id);
  const shared = async (handler: string, n: string, body?: unknown) =>
    await callOnce(server, `Flow/${id}/${handler}`, { key: `${id}-${n}`, body });
  const early = load.chance() < 0.3 ? await shared("go", "a", 1) : undefined;
  await sendOnce(server, `Flow/${id}/run`, { body: { id, key } });
  const waiting = [load.attach(target), load.attach(target), shared("hear", "h")] as const;
  const [a, b] = await Promise.all([early ?? shared("go", "a", 1), shared("go", "b", 2)]);
  expect([a.body, b.body].toSorted(), `${id}: one of two resolves`).toEqual([false, true]);
  const delta = a.body === true ? 1 : 2;
  load.owe(key, delta);
  const [first, second, heard] = await Promise.all(waiting);
  expect(first.body, id).toEqual({ first: expect.any(String), delta });
  expect(second.body, id).toEqual(first.body);
  expect(heard.body, id).toBe(delta);
  expect((await shared("delta", "d")).body, id).toBe(delta);
  load.checkSteps(id, [(first.body as { first: string }).first]);
}

export function flowOf(id: string): object {
  return { target: "workflow", workflowName: "Flow", workflowKey: id };
}

async function cancel(load: Load, id: string): Promise<void> {
  const key = load.counter();
  load.owe(key, 11);
  const invocation = await load.start("parent", id, { id, key });
  await load.notes.value(`${id}-child`, "begun");
  // As after a crash that keeps the answer back. 409: it was done before.
  if (load.chance() < 0.3) await operate(load.server, invocation, "cancel");
  expect([200, 202, 409]).toContain(await operate(load.server, invocation, "cancel"));
  const { status, body } = await load.result("parent", id);
  expect([status, body], id).toEqual([409, expect.objectContaining({ message: "Cancelled" })]);
}

async function cancelDelayed(load: Load, id: string): Promise<void> {
  const key = load.counter();
  const invocation = await load.start("callSum", id, { key, count: 1_000 }, "?delay=60s");
  expect([200, 404]).toContain(await operate(load.server, invocation, "cancel"));
  const { status } = await load.result("callSum", id);
  expect(status, id).toBe(404);
}

async function kill(load: Load, id: string): Promise<void> {
  const { server, notes } = load;
  const invocation = await load.start("parent", id, { id, key: load.counter() });
  const child = await notes.value(`${id}-child`, "is");
  await notes.value(`${id}-child`, "begun");
  expect([200, 409]).toContain(await operate(server, invocation, "kill"));
  const { status, body } = await load.result("parent", id);
  expect([status, body], id).toEqual([409, expect.objectContaining({ message: "killed" })]);
  const isOver = async () =>
    (await untilAnswered(`${server.ingress}/svc/output/${child}`, { method: "GET" })).status !==
      470;
  await until(`the child of ${id} to be killed`, isOver, 20_000);
}

/** Whoever waits for a key gets it when its holder is killed. */
async function killHolder(load: Load, id: string): Promise<void> {
  const { server, notes } = load;
  const holder = await sendOnce(server, `Sum/${id}/occupy`, { body: id, key: id });
  await notes.value(id, "occupied");
  const next = callOnce(server, `Sum/${id}/add`, { body: 1, key: `${id}-next` });
  await sleep(load.under(30));
  expect([200, 409]).toContain(await operate(server, holder, "kill"));
  expect((await next).body, id).toBe(1);
}

async function pauseAndResume(load: Load, id: string): Promise<void> {
  const key = load.counter();
  load.owe(key, 1);
  const invocation = await load.start("stroll", id, { id, key, count: 6 });
  let isOver = false;
  const result = load.result("stroll", id).finally(() => (isOver = true));
  for (let i = 0; i < 3 && !isOver; i++) {
    await sleep(load.under(60));
    expect([200, 202, 409]).toContain(await operate(load.server, invocation, "pause"));
  }
  // A pause may still be on its way when it is resumed.
  while (!isOver) {
    expect([200, 409]).toContain(await operate(load.server, invocation, "resume"));
    await sleep(50);
  }
  load.checkSteps(id, (await result).body as unknown[]);
}

/** After a purge the same key is a new invocation. */
async function purge(load: Load, id: string): Promise<void> {
  const key = load.counter(), body = { key, count: 1 };
  load.owe(key, 2);
  const invocation = await load.start("callSum", id, body);
  await load.result("callSum", id);
  load.settled.pop();
  expect([200, 404]).toContain(await operate(load.server, invocation, "purge"));
  await load.work("callSum", id, body);
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  steps,
  callsBetweenHandlers,
  delayedSends,
  slowAdd,
  awakeable,
  signals,
  workflow,
  cancel,
  cancelDelayed,
  kill,
  killHolder,
  pauseAndResume,
  purge,
};
