import { expect } from "vitest";
import { attach, awakeable, operate, send } from "./_ask.ts";
import { becomes, FLOW_CONTROL, query, sendHolds, sendIn, setRules, started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

/** A scope that no other check has. */
const scopeOf = ({ id, transport }: World) => `s${transport}${id}`.slice(0, 36);

/** Several that may start at once reach the endpoint in any order. */
async function startsOnly(world: World, names: readonly string[], wanted: readonly string[]) {
  await until(`${wanted.length} to start`, () => started(world, names).length >= wanted.length);
  expect(started(world, names).sort()).toEqual([...wanted].sort());
}

const queues: Check = async (world) => {
  const { target, endpoint } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 2 });
  const { names, ids } = await sendHolds(world, scope, 5);
  await startsOnly(world, names, names.slice(0, 2));
  for (const id of ids.slice(2)) await becomes(target, id, "pending");
  endpoint.release(names[1]!);
  await startsOnly(world, names, names.slice(0, 3));
  endpoint.release(names[0]!);
  await startsOnly(world, names, names.slice(0, 4));
  for (const name of names) endpoint.release(name);
  for (const [i, id] of ids.entries()) expect((await attach(target, id)).body).toBe(names[i]);
  expect(started(world, names).slice(2)).toEqual(names.slice(2));
};

const levels: Check = async (world) => {
  const { target, endpoint } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 3, [`${scope}/a`]: 2, [`${scope}/a/*`]: 1 });
  const one = await sendHolds(world, `${scope}/a/x`, 2);
  const two = await sendHolds(world, `${scope}/a/y`, 2);
  const other = await sendHolds(world, `${scope}/b`, 2);
  const names = [...one.names, ...two.names, ...other.names];
  await until("the first to start", () => started(world, names).length >= 3);
  expect(started(world, names).sort())
    .toEqual([one.names[0], two.names[0], other.names[0]].sort());
  endpoint.release(one.names[0]!);
  await until("the next to start", () => started(world, names).length >= 4);
  for (const name of names) endpoint.release(name);
  for (const id of [...one.ids, ...two.ids, ...other.ids]) await attach(target, id);
  expect(started(world, names).sort()).toEqual([...names].sort());
};

const raised: Check = async (world) => {
  const { target, endpoint } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 1 });
  const { names, ids } = await sendHolds(world, scope, 6);
  await startsOnly(world, names, names.slice(0, 1));
  await setRules(target, { [scope]: 3 });
  await startsOnly(world, names, names.slice(0, 3));
  // Lowered: those that run go on, and nobody starts before there is room.
  await setRules(target, { [scope]: 1 });
  endpoint.release(names[0]!);
  endpoint.release(names[1]!);
  await attach(target, ids[1]!);
  await becomes(target, ids[3]!, "pending");
  expect(started(world, names)).toHaveLength(3);
  await setRules(target, { [scope]: null });
  await startsOnly(world, names, names);
  for (const name of names) endpoint.release(name);
  for (const id of ids) await attach(target, id);
};

const ended: Check = async (world) => {
  const { target, endpoint } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 1 });
  const { names, ids } = await sendHolds(world, scope, 4);
  await startsOnly(world, names, names.slice(0, 1));
  expect((await operate(target, "cancel", ids[1]!)).status).toBeLessThan(300);
  expect((await operate(target, "kill", ids[2]!)).status).toBeLessThan(300);
  for (const id of ids.slice(1, 3)) {
    await until("it to be gone", async () => (await attach(target, id)).status === 404);
  }
  await operate(target, "kill", ids[0]!);
  await startsOnly(world, names, [names[0]!, names[3]!]);
  endpoint.release(names[0]!);
  endpoint.release(names[3]!);
  expect((await attach(target, ids[3]!)).body).toBe(names[3]);
};

const suspended: Check = async (world) => {
  const { target, endpoint, named, id } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 1 });
  const waiting = await sendIn(target, scope, `${named("Sleepy")}/awakeables`, { id, count: 1 });
  const made = await endpoint.announces(`${id} awakeable 0`);
  await endpoint.suspends(waiting);
  const { names, ids } = await sendHolds(world, scope, 1);
  await startsOnly(world, names, names);
  await awakeable(target, made, "resolve", "now");
  // It needs a slot again.
  await until("it to wait for a slot", async () => {
    const [row] = await query(target, `select status from sys_invocation where id = '${waiting}'`);
    return row?.["status"] === "pending" || row?.["status"] === "ready";
  });
  endpoint.release(names[0]!);
  await attach(target, ids[0]!);
  expect((await attach(target, waiting)).body).toEqual([{ value: "now" }]);
};

const backedOff: Check = async (world) => {
  const { target, endpoint, named, id } = world, scope = scopeOf(world);
  await setRules(target, { [scope]: 1 });
  const failing = await sendIn(target, scope, `${named("Plain")}/unready`, id);
  await endpoint.happens(`${id} unready`);
  const { names, ids } = await sendHolds(world, scope, 1);
  // Its back-offs are short, so it keeps the slot.
  await endpoint.happens(`${id} unready`, 3);
  await becomes(target, ids[0]!, "pending");
  expect(started(world, names)).toEqual([]);
  endpoint.release(id);
  expect((await attach(target, failing)).status).toBe(200);
  endpoint.release(names[0]!);
  await attach(target, ids[0]!);
};

const restarted: Check = async (world) => {
  const { target, endpoint } = world, scope = scopeOf(world);
  await setRules(target, { [`${scope}/k`]: 1 });
  const { names, ids } = await sendHolds(world, `${scope}/k`, 1);
  endpoint.release(names[0]!);
  await attach(target, ids[0]!);
  const { body } = await operate(target, "restart-as-new", ids[0]!);
  const { new_invocation_id: again } = body as { new_invocation_id: string };
  await attach(target, again);
  const [row] = await query(
    target,
    `select scope, limit_key from sys_invocation where id = '${again}'`,
  );
  expect(row).toEqual({ scope, limit_key: "k" });
};

const unscoped: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  await setRules(target, { [scopeOf(world)]: 1 });
  const names = [0, 1, 2].map((i) => `${id}-free-${i}`);
  for (const name of names) await send(target, `${named("Plain")}/hold`, name);
  await until("all to start", () => started(world, names).length === 3);
  for (const name of names) endpoint.release(name);
};

protocolSuite("limits", {
  "121 what exceeds the limit of a scope waits, and starts in order": queues,
  "122 every level of a limit key has its own limit": levels,
  "123 a changed limit is heeded at once, and interrupts nobody": raised,
  "124 who waits can be canceled and killed, and frees a slot when it is killed": ended,
  "125 a suspended invocation gives its slot back, and waits for one to go on": suspended,
  "100 a short back-off keeps the slot": backedOff,
  "101 a restarted invocation keeps its scope and its limit key": restarted,
  "102 an invocation without a scope is limited by no rule": unscoped,
}, { options: FLOW_CONTROL });
