import { expect } from "vitest";
import { attach, request, send, value } from "./_ask.ts";
import { FLOW_CONTROL, query, sendHolds, setRules, started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

async function patch({ target }: World, path: string, body: unknown): Promise<void> {
  const answer = await request("PATCH", `${target.admin}/${path}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

/** Sends to `hold` of a service, one after the other. */
async function holds(
  { target, named, id }: World,
  count: number,
  { service = "Plain", headers = {}, head = "h" }: {
    service?: string;
    headers?: Record<string, string>;
    head?: string;
  } = {},
): Promise<{ names: string[]; ids: string[] }> {
  const names = Array.from({ length: count }, (_, i) => `${id}-${head}${i}`);
  const ids: string[] = [];
  for (const name of names) {
    ids.push(await send(target, `${named(service)}/hold`, name, { headers }));
  }
  return { names, ids };
}

async function startsOnly(world: World, names: readonly string[], wanted: readonly string[]) {
  await until(`${wanted.length} to start`, () => started(world, names).length >= wanted.length);
  expect(started(world, names).sort()).toEqual([...wanted].sort());
}

const services: Check = async (world) => {
  const { target, endpoint, named } = world;
  await patch(world, `services/${named("Slow")}`, { concurrency: 2 });
  const { names, ids } = await holds(world, 5, { service: "Slow" });
  await startsOnly(world, names, names.slice(0, 2));
  expect(await value(target, `${named("Plain")}/echo`, 1)).toBe(1);
  endpoint.release(names[0]!);
  await startsOnly(world, names, names.slice(0, 3));
  await patch(world, `services/${named("Slow")}`, { concurrency: null });
  await startsOnly(world, names, names);
  for (const name of names) endpoint.release(name);
  for (const id of ids) await attach(target, id);
};

const handlers: Check = async (world) => {
  const { target, endpoint, named } = world;
  await patch(world, `services/${named("Slow")}/handlers/hold`, { concurrency: 1 });
  const { names, ids } = await holds(world, 3, { service: "Slow" });
  await startsOnly(world, names, names.slice(0, 1));
  // Another handler of the same service does not wait behind them.
  expect(await value(target, `${named("Slow")}/echo`, 2)).toBe(2);
  await patch(world, `services/${named("Slow")}/handlers/hold`, { concurrency: null });
  await startsOnly(world, names, names);
  for (const name of names) endpoint.release(name);
  for (const id of ids) await attach(target, id);
};

const paused: Check = async (world) => {
  const { target, endpoint, named } = world;
  const running = await holds(world, 1, { service: "Slow", head: "r" });
  await startsOnly(world, running.names, running.names);
  await patch(world, `services/${named("Slow")}`, { paused: true });
  const { names, ids } = await holds(world, 3, { service: "Slow" });
  endpoint.release(running.names[0]!);
  expect((await attach(target, running.ids[0]!)).body).toBe(running.names[0]);
  const rows = await query(
    target,
    `select status from sys_invocation where target_service_name = '${named("Slow")}' ` +
      "and status <> 'completed'",
  );
  expect(rows).toEqual(names.map(() => ({ status: "pending" })));
  expect(started(world, names)).toEqual([]);
  await target.restart();
  expect(started(world, names)).toEqual([]);
  const sql = `select paused from sys_service where name = '${named("Slow")}'`;
  expect(await query(target, sql)).toEqual([{ paused: true }]);
  await patch(world, `services/${named("Slow")}`, { paused: false });
  await startsOnly(world, names, names);
  for (const name of names) endpoint.release(name);
  for (const id of ids) await attach(target, id);
};

const rates: Check = async (world) => {
  const { target, endpoint, named } = world;
  const rate = { count: 10, period: "1s", burst: 2 };
  await patch(world, `services/${named("Slow")}`, { rate });
  // Not from the first attempt on: it may reach the endpoint late, and those after it in time.
  const from = Date.now();
  const { names, ids } = await holds(world, 8, { service: "Slow" });
  for (const name of names) endpoint.release(name);
  await Promise.all(ids.map((id) => attach(target, id)));
  const opened = ids.map((id) => endpoint.attempts(id)[0]?.openedAt ?? 0).sort((a, b) => a - b);
  // Two at once, then one every 100 ms: attempts may reach the endpoint late, never early.
  for (const [i, at] of opened.entries()) {
    expect(at - from).toBeGreaterThanOrEqual((i - 2) * 100);
  }
  await patch(world, `services/${named("Slow")}`, { rate: null });
};

const priorities: Check = async (world) => {
  const { target, endpoint, transport, id } = world, scope = `p${transport}${id}`;
  await setRules(target, { [scope]: 1 });
  const first = await sendHolds(world, scope, 1);
  await until("the first to start", () => started(world, first.names).length === 1);
  const prioritized = (priority: number) =>
    sendHolds({ ...world, id: `${id}-${priority}` }, scope, 2, {
      [`x-${target.word}-priority`]: String(priority),
    });
  const low = await prioritized(0), high = await prioritized(9), usual = await prioritized(4);
  const names = [...first.names, ...high.names, ...usual.names, ...low.names];
  for (const name of names) endpoint.release(name);
  for (const one of [low, high, usual]) for (const id of one.ids) await attach(target, id);
  expect(started(world, names)).toEqual(names);
};

const pausedQueue: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const put = (key: string) => send(target, `${named("Store")}/${key}/hold`, `${id}-${key}`);
  const waiting = await put("one").then(async (first) => {
    endpoint.release(`${id}-one`);
    await attach(target, first);
    const [row] = await query(
      target,
      `select vqueue_id from sys_invocation where id = '${first}'`,
    );
    const queue = `${target.admin}/vqueues/${row?.["vqueue_id"]}`;
    expect((await request("POST", `${queue}/pause`)).status).toBe(202);
    endpoint.unrelease(`${id}-one`);
    const before = endpoint.count(`${id}-one hold`);
    return { id: await put("one"), queue, before };
  });
  // Another key of the same object is another queue.
  const other = await put("two");
  await endpoint.happens(`${id}-two hold`);
  endpoint.release(`${id}-two`);
  await attach(target, other);
  expect(endpoint.count(`${id}-one hold`)).toBe(waiting.before);
  expect((await request("POST", `${waiting.queue}/resume`)).status).toBe(202);
  await endpoint.happens(`${id}-one hold`, waiting.before + 1);
  endpoint.release(`${id}-one`);
  await attach(target, waiting.id);
};

const crashed: Check = async (world) => {
  const { target, endpoint, transport, id } = world, scope = `c${transport}${id}`;
  await setRules(target, { [scope]: 2 });
  const { names, ids } = await sendHolds(world, scope, 6);
  const runs = async () => {
    const rows = await query(
      target,
      `select id from sys_invocation where scope = '${scope}' and status in ('running', 'ready')`,
    );
    return rows.map((row) => row["id"]);
  };
  await startsOnly(world, names, names.slice(0, 2));
  for (let crash = 1; crash <= 2; crash++) {
    await target.restart();
    // The two that held slots run again, and nobody else.
    for (const name of names.slice(0, 2)) await endpoint.happens(`${name} hold`, crash + 1);
    expect((await runs()).sort()).toEqual(ids.slice(0, 2).sort());
  }
  endpoint.release(names[0]!);
  expect((await attach(target, ids[0]!)).body).toBe(names[0]);
  await endpoint.happens(`${names[2]} hold`);
  await target.restart();
  await endpoint.happens(`${names[2]} hold`, 2);
  expect((await runs()).sort()).toEqual(ids.slice(1, 3).sort());
  for (const name of names) endpoint.release(name);
  for (const [i, one] of ids.entries()) expect((await attach(target, one)).body).toBe(names[i]);
};

protocolSuite("limits of services", {
  "103 a crash neither loses a slot nor gives one twice": crashed,
  "115 the queue of one object can be paused, and others go on": pausedQueue,
  "105 a service runs no more at once than its limit": services,
  "106 a handler with a limit does not hold up the others": handlers,
  "107 a paused service ends what runs and keeps what comes, also through a crash": paused,
  "108 a rate lets a burst start, and then so many in each period": rates,
  "109 a higher priority goes first, and within one the first to come": priorities,
}, { options: FLOW_CONTROL, isSequential: true });
