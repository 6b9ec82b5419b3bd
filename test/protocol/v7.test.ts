import { expect } from "vitest";
import { attach, awakeable, send, value } from "./_ask.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";
import { frameOf, namesOf } from "./_wire.ts";

/** Starts a wait for two awakeables, and answers it once it is suspended. */
async function combine({ target, endpoint, named, id }: World, how: string) {
  const name = `${id}-${how}`;
  const invocation = await send(target, `${named("Sleepy")}/combine`, { id: name, how, count: 2 });
  const first = await endpoint.announces(`${name} awakeable 0`);
  const second = await endpoint.announces(`${name} awakeable 1`);
  const attempt = await endpoint.suspends(invocation);
  expect(attempt.headers["content-type"]).toContain("invocation.v7");
  const attempts = () => endpoint.attempts(invocation).length;
  const before = attempts();
  const isStill = async () => {
    // A while in which it would have woken.
    await value(target, `${named("Plain")}/nap`, { id: `${name}-clock`, ms: 100 });
    expect(attempts()).toBe(before);
  };
  return { invocation, first, second, isStill, more: () => attempts() - before };
}

const all: Check = async (world) => {
  const { target } = world;
  const { invocation, first, second, isStill, more } = await combine(world, "all");
  await awakeable(target, first, "resolve", 1);
  await isStill();
  await awakeable(target, second, "resolve", 2);
  expect((await attach(target, invocation)).body).toEqual({ value: [1, 2] });
  expect(more()).toBe(1);
};

const allFailing: Check = async (world) => {
  const { target } = world;
  const { invocation, first, more } = await combine(world, "all");
  await awakeable(target, first, "reject", "no");
  expect((await attach(target, invocation)).body).toMatchObject({ code: 500, message: "no" });
  expect(more()).toBe(1);
};

const settled: Check = async (world) => {
  const { target } = world;
  const { invocation, first, second, isStill, more } = await combine(world, "allSettled");
  await awakeable(target, first, "reject", "no");
  await isStill();
  await awakeable(target, second, "resolve", 2);
  expect((await attach(target, invocation)).body)
    .toMatchObject({ value: [{ status: "rejected" }, { status: "fulfilled", value: 2 }] });
  expect(more()).toBe(1);
};

const any: Check = async (world) => {
  const { target } = world;
  const { invocation, first, second, isStill, more } = await combine(world, "any");
  await awakeable(target, first, "reject", "no");
  await isStill();
  await awakeable(target, second, "resolve", 2);
  expect((await attach(target, invocation)).body).toEqual({ value: 2 });
  expect(more()).toBe(1);
};

const race: Check = async (world) => {
  const { target } = world;
  const { invocation, second, more } = await combine(world, "race");
  await awakeable(target, second, "reject", "lost");
  expect((await attach(target, invocation)).body).toMatchObject({ code: 500, message: "lost" });
  expect(more()).toBe(1);
};

const timedOut: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Sleepy")}/timeout`, { id, ms: 500 });
  const attempt = await endpoint.suspends(invocation);
  expect(frameOf(attempt, "Suspension").body.length).toBeGreaterThan(0);
  expect((await attach(target, invocation)).body).toMatchObject({ code: 408 });
  const last = endpoint.attempts(invocation).at(-1);
  expect(namesOf(last, "in").at(-1)).toBe("SleepCompletion");
};

protocolSuite("version 7", {
  "53 all succeeded or first failed: one success does not wake, the second does": all,
  "53b all succeeded or first failed: a failure wakes at once": allFailing,
  "53c all completed: a failure does not wake, the completion of the other does": settled,
  "53d first succeeded or all failed: a failure does not wake, a success does": any,
  "53e first completed: a failure wakes": race,
  "54 an awakeable with a timeout wakes when the sleep fires": timedOut,
}, { options: { "experimental-enable-protocol-v7": "true" } });
