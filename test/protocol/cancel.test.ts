import { expect } from "vitest";
import { until } from "../support/child.ts";
import { attach, operate, output, send, value } from "./_ask.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";
import { namesOf, startOf } from "./_wire.ts";

const CANCELLED = { status: 409, body: { code: 409, message: "Cancelled", source: "invocation" } };
const NEVER_MS = 300_000;

/** Cancels, and waits for what the SDK makes of it. */
async function cancel({ target, endpoint }: World, invocation: string): Promise<void> {
  expect((await operate(target, "cancel", invocation)).status).toBe(202);
  expect(await attach(target, invocation)).toMatchObject(CANCELLED);
  const last = endpoint.attempts(invocation).at(-1);
  expect(namesOf(last, "in")).toContain("SignalNotification");
  expect((await operate(target, "cancel", invocation)).status).toBe(409);
}

const running: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("Plain")}/nap`, { id, ms: NEVER_MS });
  await endpoint.happens(`${id} asleep`);
  await cancel(world, invocation);
  expect(endpoint.count(`${id} after`)).toBe(0);
};

const suspended: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("Sleepy")}/nap`, { id, ms: NEVER_MS });
  await endpoint.suspends(invocation);
  await cancel(world, invocation);
};

/** A cancellation is the one notification that resumes what is paused. */
const paused: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("Fragile")}/fail`, { id, failures: 2 });
  await endpoint.happens(`${id} attempt`, 2);
  // While it still backs off, a pause is accepted; when paused, it is a fact.
  await until(
    "it to be paused",
    async () => (await operate(target, "pause", invocation)).status === 200,
  );
  await cancel(world, invocation);
  const last = endpoint.attempts(invocation).at(-1);
  expect(startOf(last).retryCountSinceLastStoredEntry).toBe(0);
};

const backingOff: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("Slow")}/fail`, { id, failures: 1 });
  await endpoint.attempt(
    "a failure",
    invocation,
    (one) => namesOf(one, "out").at(-1) === "Error" && one.closedAt !== undefined,
  );
  const failedAt = Date.now();
  await cancel(world, invocation);
  // The back-off is not cut short.
  expect(Date.now() - failedAt).toBeGreaterThan(700);
};

const parent: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("Plain")}/parent`, {
    id,
    called: { id: `${id}-called`, ms: NEVER_MS },
    sent: { id: `${id}-sent`, ms: 500 },
  });
  const called = await endpoint.announces(`${id} called`);
  const sent = await endpoint.announces(`${id} sent`);
  await endpoint.happens(`${id}-called asleep`);
  await endpoint.happens(`${id}-sent asleep`);
  await cancel(world, invocation);
  expect(await attach(target, called)).toMatchObject(CANCELLED);
  expect((await attach(target, sent)).body).toBe(`${id}-sent`);
  const names = endpoint.attempts(invocation).flatMap((one) => namesOf(one, "out"));
  expect(names.filter((name) => name === "SendSignalCommand")).toHaveLength(1);
};

const cleanup = (service: string): Check => async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named(service)}/cleanup`, { id, ms: 1_000 });
  await endpoint.happens(`${id} asleep`);
  await until(
    "the cancellation",
    async () => (await operate(target, "cancel", invocation)).status === 202,
  );
  const answer = await attach(target, invocation);
  expect([answer.status, answer.body]).toEqual([200, "clean"]);
  expect(endpoint.count(`${id} caught 409 Cancelled`)).toBe(1);
  // Start, the step, the nap; the signal, its step, its nap; the end: none of them twice.
  expect(endpoint.attempts(invocation).length).toBeLessThanOrEqual(6);
};

const inboxed: Check = async ({ target, endpoint, named, id }) => {
  const store = `${named("Store")}/${id}`;
  const holder = await send(target, `${store}/hold`, id);
  await endpoint.happens(`${id} hold`);
  for (const [verb, message] of [["cancel", "canceled"], ["kill", "killed"]] as const) {
    const waiting = await send(target, `${store}/nap`, { id, ms: 0 });
    const waiter = attach(target, waiting);
    await arrive(target, waiting);
    expect((await operate(target, verb, waiting)).status).toBe(200);
    expect(await waiter).toMatchObject({ status: 409, body: { code: 409, message } });
    expect((await output(target, waiting)).status).toBe(404);
    expect((await operate(target, verb, waiting)).status).toBe(404);
  }
  endpoint.release(id);
  await attach(target, holder);
  await value(target, `${store}/nap`, { id: `${id}-next`, ms: 0 });
  expect(endpoint.count(`${id} in ${id}`)).toBe(0);
};

/** An attach has no sign of having arrived: asking twice about another thing gives it the time. */
async function arrive({ ingress, word }: World["target"], invocation: string): Promise<void> {
  for (let i = 0; i < 5; i++) await fetch(`${ingress}/${word}/output/${invocation}`);
}

const scheduled: Check = async ({ target, endpoint, named, id }) => {
  for (const [verb, message] of [["cancel", "canceled"], ["kill", "killed"]] as const) {
    // Longer than a busy machine takes for what follows.
    const query = "delay=1500ms";
    const later = await send(target, `${named("Plain")}/nap`, { id, ms: 0 }, { query });
    const waiter = attach(target, later);
    await arrive(target, later);
    expect((await operate(target, verb, later)).status).toBe(200);
    expect(await waiter).toMatchObject({ status: 409, body: { code: 409, message } });
    expect((await output(target, later)).status).toBe(404);
  }
  // One that was sent later and starts later: the dropped ones are past their time.
  await attach(target, await send(target, `${named("Plain")}/echo`, id, { query: "delay=1600ms" }));
  expect(endpoint.count(`${id} before`)).toBe(0);
};

const killed: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain");
  const leaf = (one: string) => ({ id: `${id}-${one}`, ms: NEVER_MS });
  const top = await send(target, `${service}/parent`, {
    id,
    method: "parent",
    called: { id: `${id}-called`, called: leaf("a"), sent: leaf("b") },
    sent: { id: `${id}-sent`, called: leaf("c"), sent: leaf("d") },
  });
  for (const one of ["a", "b", "c", "d"]) await endpoint.happens(`${id}-${one} asleep`);
  const ids = await Promise.all(
    [`${id}`, `${id}-called`, `${id}-sent`].flatMap((one) =>
      ["called", "sent"].map((kind) => endpoint.announces(`${one} ${kind}`))
    ),
  );
  const waiter = attach(target, top);
  expect((await operate(target, "kill", top)).status).toBe(200);
  expect(await waiter).toMatchObject({ status: 409, body: { code: 409, message: "killed" } });
  for (const child of ids) {
    expect(await attach(target, child)).toMatchObject({ body: { code: 409, message: "killed" } });
  }
  await until(
    "all streams to be closed",
    () =>
      [...ids, top].every((one) =>
        endpoint.attempts(one).every((attempt) => attempt.closedAt !== undefined)
      ),
  );
};

const pausedByHand: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Plain")}/steps`, {
    id,
    names: ["a", "b"],
    hold: ["a"],
  });
  await endpoint.happens(`${id} a`);
  expect((await operate(target, "pause", invocation)).status).toBe(202);
  // Resuming what has not paused yet changes nothing.
  expect((await operate(target, "resume", invocation)).status).toBe(200);
  endpoint.release(`${id}-a`);
  await until(
    "it to be paused",
    async () => (await operate(target, "pause", invocation)).status === 200,
  );
  const before = endpoint.attempts(invocation).length;
  // The handler may have begun the next step before it heard of the pause. Its result is not stored then.
  const begun = endpoint.count(`${id} b`);
  const signal = { target: invocation, name: "x", value: 1 };
  await value(target, `${named("Plain")}/sendSignal`, signal);
  // A while in which it would have woken.
  await value(target, `${named("Plain")}/nap`, { id: `${id}-clock`, ms: 100 });
  expect((await output(target, invocation)).status).toBe(470);
  expect(endpoint.attempts(invocation).length).toBe(before);
  expect(endpoint.count(`${id} b`)).toBe(begun);
  expect((await operate(target, "resume", invocation)).status).toBe(200);
  expect((await attach(target, invocation)).body).toEqual(["a-1", `b-${begun + 1}`]);
  expect(startOf(endpoint.attempts(invocation)[before]).retryCountSinceLastStoredEntry).toBe(0);
};

protocolSuite("cancel, kill, pause", {
  "72 a running invocation that is cancelled ends with 409": running,
  "72b a suspended one too": suspended,
  "72c a paused one is resumed by it": paused,
  "72d a backing-off one ends at its next attempt": backingOff,
  "73 cancelling a parent cancels whom it called, not whom it sent to": parent,
  "74 a cancellation that was caught makes no hot loop of attempts": cleanup("Plain"),
  "74b nor when suspended": cleanup("Sleepy"),
  "75 an inboxed invocation that is cancelled or killed never starts": inboxed,
  "75b a scheduled one neither": scheduled,
  "76 killing a parent ends its attempt and kills all it called or sent to": killed,
  "78 what is paused while it runs pauses when it suspends, until it is resumed": pausedByHand,
});
