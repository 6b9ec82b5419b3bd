import { request, send } from "./_ask.ts";
import { until } from "../support/child.ts";
import { says } from "./_says.ts";
import { FLOW_CONTROL, query, sendHolds, setRules, started } from "./_scoped.ts";
import { type Check, protocolSuite } from "./_suite.ts";

const limits: Check = async (world) => {
  const { target, endpoint, transport, id } = world, scope = `w${transport}${id}`;
  await setRules(target, { [`${scope}/*`]: 1 });
  const { names, ids } = await sendHolds(world, `${scope}/a`, 3);
  await until("the first to start", () => started(world, names).length === 1);
  const slot = `waits for a slot of rule "${scope}/*" for ${scope}/a (level l1, 1 of 1 in use)`;
  await says(world, ids[1]!, `${slot}, place 1 of its queue`);
  await says(world, ids[2]!, `${slot}, place 2 of its queue`);
  for (const name of names) endpoint.release(name);
};

const pauses: Check = async (world) => {
  const { target, endpoint, named, id } = world, service = named("Slow");
  const patch = (paused: boolean) =>
    request("PATCH", `${target.admin}/services/${service}`, { body: { paused } });
  await patch(true);
  const waiting = await send(target, `${service}/hold`, id);
  await says(world, waiting, `waits because service ${service} is paused`);
  await patch(false);
  await endpoint.happens(`${id} hold`);
  endpoint.release(id);
};

const locks: Check = async (world) => {
  const { target, endpoint, named, id } = world, lock = `${named("Store")}/${id}`;
  const holder = await send(target, `${lock}/hold`, id);
  await endpoint.happens(`${id} hold`);
  const waiting = await send(target, `${lock}/put`, {});
  await says(
    world,
    waiting,
    `waits for the lock of ${lock}, which ${holder} holds since TIME, place 1 of its queue`,
  );
  endpoint.release(id);
};

const notifications: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const asleep = await send(target, `${named("Sleepy")}/nap`, { id, ms: 60_000 });
  await says(world, asleep, "waits for the end of its sleep at TIME");
  const awaiting = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
  const awakeable = await endpoint.announces(`${id} awakeable 0`);
  await says(world, awaiting, `waits for awakeable ${awakeable}`);
  const workflow = await send(target, `${named("SleepyFlow")}/${id}/run`, id);
  await says(world, workflow, 'waits for promise "go"');
  const nap = { id: `${id}-called`, ms: 60_000 };
  const list = [{ service: named("Sleepy"), method: "nap", parameter: nap }];
  const calling = await send(target, `${named("Sleepy")}/calls`, list);
  await endpoint.happens(`${id}-called asleep`);
  const [called] = await query(
    target,
    `select id from sys_invocation where invoked_by_id = '${calling}'`,
  );
  await says(world, calling, `waits for the result of ${named("Sleepy")}/nap, ${called?.["id"]}`);
};

const others: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const late = await send(target, `${named("Plain")}/echo`, 1, { query: "delay=1h" });
  await says(world, late, "starts at TIME");
  const failed = `RT0007 [500 Internal] ${id} is not ready`;
  const retrying = await send(target, `${named("Slow")}/unready`, id);
  await says(
    world,
    retrying,
    `waits until TIME for its next attempt, after 1 that failed: ${failed}`,
  );
  const paused = await send(target, `${named("Fragile")}/unready`, id);
  await says(world, paused, `is paused since TIME until it is resumed, after ${failed}`);
  endpoint.release(id);
};

protocolSuite("why an invocation does not run", {
  "110 a limit is named, with its use and the place in the queue": limits,
  "111 a pause is named": pauses,
  "112 a lock is named, and its holder": locks,
  "113 a sleep, an awakeable, a promise and a call are named": notifications,
  "114 a delay, a retry and a pause after failures are told": others,
}, { options: FLOW_CONTROL, isSequential: true });
