import { expect } from "vitest";
import { request, send } from "./_ask.ts";
import { says } from "./_says.ts";
import { FLOW_CONTROL, query, sendHolds, sendIn, setRules, started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

// Rules, limits of services and pauses are in the first database, and what waits for them is in all.

/** Scopes, objects and ids are in partitions by their hash: of so many some are in each. */
const MANY = 9;
const DATABASES = 3;
const many = Array.from({ length: MANY }, (_, i) => i);

async function patch({ target }: World, path: string, body: unknown): Promise<void> {
  const answer = await request("PATCH", `${target.admin}/${path}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

/** Sends to `hold` of a service: the ids are random. */
async function holds({ target, named, id }: World, service: string, what: string) {
  const names = many.map((i) => `${id}-${what}-${i}`);
  const path = `${named(service)}/hold`;
  const ids = await Promise.all(names.map((name) => send(target, path, name)));
  return { names, ids };
}

/** Waits until so many run. Answers the ids of all others. */
async function othersThan(world: World, running: number, { names, ids }: {
  readonly names: readonly string[];
  readonly ids: readonly string[];
}): Promise<readonly string[]> {
  await until(`${running} to start`, () => started(world, names).length === running);
  const begun = started(world, names);
  return ids.filter((_, i) => !begun.includes(names[i] ?? ""));
}

function release({ endpoint }: World, names: readonly string[]): void {
  for (const name of names) endpoint.release(name);
}

const rules: Check = async (world) => {
  const { target, id } = world;
  for (const [level, place, pattern] of LEVELS) {
    const scopes = many.map((i) => `${level}${id}-${i}`);
    await setRules(target, Object.fromEntries(scopes.map((one) => [one + pattern, 1])));
    for (const scope of scopes) {
      const { names, ids } = await sendHolds(world, scope + place, 2);
      const [waiting = ""] = await othersThan(world, 1, { names, ids });
      const name = `${scope}${place}`, rule = `${scope}${pattern}`;
      const on = await says(
        world,
        waiting,
        `waits for a slot of rule "${rule}" for ${name} (level ${level}, 1 of 1 in use), ` +
          "place 1 of its queue",
      );
      expect(on).toEqual({ for: "slot", level, name, rule, used: 1, limit: 1, place: 1 });
      release(world, names);
    }
  }
};

const LEVELS = [["scope", "", ""], ["l1", "/a", "/*"], ["l2", "/a/b", "/*/b"]] as const;

const services: Check = async (world) => {
  const { named } = world, service = named("Plain");
  await patch(world, `services/${service}`, { concurrency: 3 });
  const ofService = await holds(world, "Plain", "service");
  for (const one of await othersThan(world, 3, ofService)) {
    const slot = `waits for a slot of ${service} (level service, 3 of 3 in use), PLACE`;
    const { place, ...on } = await says(world, one, slot);
    expect(on).toEqual({ for: "slot", level: "service", name: service, used: 3, limit: 3 });
    expect(place).toBeGreaterThan(0);
  }
  await patch(world, `services/${service}`, { concurrency: null });
  await othersThan(world, MANY, ofService);
  release(world, ofService.names);
  const handler = `${named("Slow")}/hold`;
  await patch(world, `services/${named("Slow")}/handlers/hold`, { concurrency: 1 });
  const ofHandler = await holds(world, "Slow", "handler");
  for (const one of await othersThan(world, 1, ofHandler)) {
    const slot = `waits for a slot of ${handler} (level handler, 1 of 1 in use), PLACE`;
    expect(await says(world, one, slot))
      .toMatchObject({ for: "slot", level: "handler", name: handler, used: 1, limit: 1 });
  }
  await patch(world, `services/${named("Slow")}/handlers/hold`, { concurrency: null });
  release(world, ofHandler.names);
};

const rates: Check = async (world) => {
  const { target, named, id } = world, service = named("Fragile");
  const rate = { count: 1, period: "10m" };
  await patch(world, `services/${service}`, { rate });
  const of = "TIME, PLACE";
  const ofService = await holds(world, "Fragile", "rate");
  for (const one of await othersThan(world, 1, ofService)) {
    const text = `waits for the rate of ${service} (level service, 1 starts each 600000 ms), ` +
      `which allows the next one at ${of}`;
    expect(await says(world, one, text))
      .toMatchObject({ for: "token", level: "service", name: service, period_ms: 600_000 });
  }
  await patch(world, `services/${service}`, { rate: null });
  release(world, ofService.names);
  for (const i of many) {
    const scope = `rate${id}-${i}`;
    const body = [{ pattern: scope, limits: { rate } }];
    await request("PUT", `${target.admin}/limits/rules`, { body });
    const { names, ids } = await sendHolds(world, scope, 2);
    const [waiting = ""] = await othersThan(world, 1, { names, ids });
    const text = `waits for the rate of rule "${scope}" for ${scope} (level scope, 1 starts each ` +
      `600000 ms), which allows the next one at ${of}`;
    expect(await says(world, waiting, text)).toMatchObject({ for: "token", rule: scope, limit: 1 });
    await setRules(target, { [scope]: null });
    release(world, names);
  }
};

async function expectPaused(
  world: World,
  { paused, name, ids }: {
    readonly paused: string;
    readonly name: string;
    readonly ids: readonly string[];
  },
): Promise<void> {
  for (const one of ids) {
    const { since, ...on } = await says(world, one, `waits because ${paused} ${name} is paused`);
    expect(on).toEqual({ for: "resume", paused, name });
    expect(since).toMatch(/Z$/);
  }
}

const pauses: Check = async (world) => {
  const { target, named, id } = world, slow = named("Slow"), plain = named("Plain");
  await patch(world, `services/${slow}`, { paused: true });
  const ofService = await holds(world, "Slow", "paused");
  await expectPaused(world, { paused: "service", name: slow, ids: ofService.ids });
  await patch(world, `services/${slow}`, { paused: false });
  const sql = `select deployment_id from sys_service where name = '${plain}'`;
  const name = String((await query(target, sql))[0]?.["deployment_id"]);
  await patch(world, `deployments/${name}`, { paused: true });
  const ofDeployment = await holds(world, "Plain", "deployment");
  await expectPaused(world, { paused: "deployment", name, ids: ofDeployment.ids });
  await patch(world, `deployments/${name}`, { paused: false });
  release(world, [...ofService.names, ...ofDeployment.names]);
  for (const i of many) {
    const scope = `queue${id}-${i}`, path = `${plain}/echo`;
    const first = await sendIn(target, scope, path, 1);
    const sql = `select vqueue_id from sys_invocation where id = '${first}'`;
    const queue = String((await query(target, sql))[0]?.["vqueue_id"]);
    await request("POST", `${target.admin}/vqueues/${queue}/pause`);
    const ids = [await sendIn(target, scope, path, 2)];
    await expectPaused(world, { paused: "queue", name: queue, ids });
    await request("POST", `${target.admin}/vqueues/${queue}/resume`);
  }
};

const locks: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  for (const i of many) {
    const key = `${id}-${i}`, lock = `${named("Store")}/${key}`;
    const holder = await send(target, `${lock}/hold`, key);
    await endpoint.happens(`${key} hold`);
    const waiting = await send(target, `${lock}/put`, {});
    const text = `waits for the lock of ${lock}, which ${holder} holds since TIME, ` +
      "place 1 of its queue";
    expect(await says(world, waiting, text)).toMatchObject({ for: "lock", lock, holder, place: 1 });
    endpoint.release(key);
  }
};

protocolSuite("why an invocation does not run, with a database for each partition", {
  "134 a rule is named on each level, in every database": rules,
  "135 a limit of a service or a handler is named, with what is used in all databases": services,
  "136 a rate is named, with its next start": rates,
  "137 a pause of a service, a deployment and a queue is named": pauses,
  "138 a lock is named, and its holder": locks,
}, {
  options: {
    ...FLOW_CONTROL,
    "default-num-partitions": String(DATABASES),
    "storage.databases": "each",
  },
  isSequential: true,
  transports: ["h2"],
  testMs: 60_000,
});
