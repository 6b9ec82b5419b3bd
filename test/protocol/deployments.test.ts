import { expect } from "vitest";
import { attach, awakeable, call, operate, request, send, value } from "./_ask.ts";
import { becomes } from "./_scoped.ts";
import { type SdkEndpoint, startSdk } from "./_sdk.ts";
import { type Check, protocolSuite, registered, type World } from "./_suite.ts";
import { namesOf, startOf } from "./_wire.ts";

interface Revisions {
  readonly a: SdkEndpoint;
  readonly b: SdkEndpoint;
  /** The deployment of `a`. */
  readonly deployment: string;
  /** Registers `b`, and answers its id. */
  readonly replace: () => Promise<string>;
  readonly named: (service: string) => string;
}

/** Two endpoints with the same services, the second with a handler more; the first is registered. */
async function revised(
  { target, transport, id }: World,
  check: (revisions: Revisions) => Promise<void>,
): Promise<void> {
  const suffix = `_${id.replaceAll("-", "_")}`;
  const [a, b] = await Promise.all(
    ["1", "2"].map((revision) => startSdk({ transport, suffix, revision })),
  );
  if (!a || !b) throw new Error("No endpoints");
  try {
    const deployment = await registered(target, a);
    const named = (service: string) => `${service}${suffix}`;
    await check({ a, b, named, deployment, replace: () => registered(target, b) });
  } finally {
    await Promise.all([a.close(), b.close()]);
  }
}

const pinned: Check = (world) =>
  revised(world, async ({ a, b, named, replace }) => {
    const { target, id } = world;
    const old = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
    const made = await a.announces(`${id} awakeable 0`);
    const free = await send(target, `${named("Plain")}/unready`, id);
    await a.happens(`${id} unready`);
    expect(await value(target, `${named("Plain")}/revision`)).toBe("1");
    b.release(id);
    await replace();
    expect(await value(target, `${named("Plain")}/revision`)).toBe("2");
    expect((await attach(target, free)).body).toBe("2");
    await awakeable(target, made, "resolve", id);
    expect((await attach(target, old)).body).toEqual([{ value: id }]);
    expect(b.attempts(old)).toEqual([]);
  });

const passed: Check = (world) =>
  revised(world, async ({ a, b, named, deployment, replace }) => {
    const { target, id } = world;
    const pause = async (paused: boolean) => {
      const url = `${target.admin}/deployments/${deployment}`;
      expect((await request("PATCH", url, { body: { paused } })).status).toBe(200);
    };
    const old = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
    const made = await a.announces(`${id} awakeable 0`);
    await a.suspends(old);
    await pause(true);
    await awakeable(target, made, "resolve", id);
    const free = await send(target, `${named("Plain")}/revision`);
    await becomes(target, free, "pending");
    const attempts = a.attempts(old).length;
    await replace();
    // What is pinned waits before it, and goes on waiting.
    expect((await attach(target, free)).body).toBe("2");
    expect([a.attempts(old).length, b.attempts(old)]).toEqual([attempts, []]);
    await pause(false);
    expect((await attach(target, old)).body).toEqual([{ value: id }]);
  });

const extended: Check = (world) =>
  revised(world, async ({ a, b, named, deployment }) => {
    const { target, id } = world;
    const old = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
    const made = await a.announces(`${id} awakeable 0`);
    await a.suspends(old);
    expect((await call(target, `${named("Plain")}/added`)).status).toBe(404);
    const url = `${target.admin}/deployments/${deployment}`;
    const { status, body } = await request("PUT", url, { body: { uri: b.url } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: deployment, uri: `${b.url}/` });
    expect(await value(target, `${named("Plain")}/added`)).toBe("2");
    expect(await value(target, `${named("Plain")}/revision`)).toBe("2");
    await awakeable(target, made, "resolve", id);
    expect((await attach(target, old)).body).toEqual([{ value: id }]);
    expect(b.attempts(old)).not.toEqual([]);
  });

const moved: Check = (world) =>
  revised(world, async ({ a, b, named, replace }) => {
    const { target, id } = world;
    const invocation = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 1 });
    const made = await a.announces(`${id} awakeable 0`);
    const last = await a.suspends(invocation);
    const deployment = await replace();
    const answer = await operate(target, "resume", invocation, `deployment=${deployment}`);
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    await b.suspends(invocation);
    await awakeable(target, made, "resolve", id);
    expect((await attach(target, invocation)).body).toEqual([{ value: id }]);
    const [first] = b.attempts(invocation);
    expect(first?.headers["content-type"]).toBe(last.headers["content-type"]);
    const replayed = ["Start", "InputCommand", "RunCommand", "RunCompletion"];
    expect(namesOf(first, "in").slice(0, 4)).toEqual(replayed);
    expect(b.count(`${id} awakeable 0 ${made}`)).toBe(0);
  });

const restarted: Check = async ({ target, endpoint, named, id }) => {
  const names = ["a", "b"];
  const old = await send(target, `${named("Plain")}/steps`, { id, names });
  expect((await attach(target, old)).body).toEqual(["a-1", "b-1"]);
  const answer = await operate(target, "restart-as-new", old, "from=2");
  expect(answer.status).toBe(200);
  const { new_invocation_id: fresh } = answer.body as { new_invocation_id: string };
  expect(fresh).not.toBe(old);
  expect((await attach(target, fresh)).body).toEqual(["a-1", "b-2"]);
  const [first] = endpoint.attempts(fresh);
  expect(startOf(first).knownEntries).toBe(3);
  expect(endpoint.count(`${id} a`)).toBe(1);
};

/** Code that went on from a value of the old seed would take another path with a new one. */
const seeded: Check = async ({ target, endpoint, named, id }) => {
  const old = await send(target, `${named("Plain")}/steps`, { id, names: ["a", "b"] });
  await attach(target, old);
  const { body } = await operate(target, "restart-as-new", old, "from=2");
  const { new_invocation_id: fresh } = body as { new_invocation_id: string };
  await attach(target, fresh);
  const [before, after] = [old, fresh].map((one) => startOf(endpoint.attempts(one)[0]));
  expect(after?.randomSeed).toBe(before?.randomSeed);
};

protocolSuite("deployments", {
  "86 what is pinned goes on where it is, new ones and unpinned ones go to the new": pinned,
  "86c what is not pinned leaves a paused deployment once there is a new one": passed,
  "86b a deployment put to newer code serves its new handler, and what runs goes on there":
    extended,
  "87 what is suspended can be resumed on another deployment, with its version": moved,
  "89 restart as new from an entry: a new id, what lies before is not done again": restarted,
  "89b restart as new from an entry keeps the seed": seeded,
});
