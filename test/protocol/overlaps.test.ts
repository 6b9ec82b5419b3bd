import { expect } from "vitest";
import { until } from "../support/child.ts";
import { attach, call, operate, send } from "./_ask.ts";
import { stays } from "./_script_stage.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

/** What the steps under this id did, in order. */
const stepsOf = ({ endpoint, id }: World) =>
  endpoint.lines().filter((line) => line === `${id} begins` || line === `${id} ends`)
    .map((line) => line.slice(id.length + 1));

const retried: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("StrictStore")}/${id}/step`, id);
  await endpoint.happens(`${id} begins`);
  const isAlone = () => endpoint.attempts(invocation).length === 1;
  await stays("the only attempt", isAlone, 1_000);
  // Both: the next one is not to meet the timeouts.
  endpoint.release(`${id}-2`);
  endpoint.release(`${id}-1`);
  await endpoint.happens(`${id} begins`, 2);
  const [first, second] = endpoint.attempts(invocation);
  expect(first?.closedAt).toBeLessThanOrEqual(second?.openedAt ?? 0);
  expect((await attach(target, invocation)).body).toBe(2);
  expect(stepsOf(world)).toEqual(["begins", "ends", "begins", "ends"]);
};

const paused: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("StrictStore")}/${id}/step`, id);
  await endpoint.happens(`${id} begins`);
  expect((await operate(target, "pause", invocation)).status).toBe(202);
  await stays("the only attempt", () => endpoint.attempts(invocation).length === 1, 1_000);
  endpoint.release(`${id}-1`);
  endpoint.release(`${id}-2`);
  // Repeated until it is paused: an earlier request is answered, and may have no effect.
  await until("the next attempt", async () => {
    await operate(target, "resume", invocation);
    return endpoint.count(`${id} begins`) > 1;
  });
  expect((await attach(target, invocation)).body).toBe(2);
  expect(stepsOf(world)).toEqual(["begins", "ends", "begins", "ends"]);
};

const canceled: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const invocation = await send(target, `${named("StrictStore")}/${id}/step`, id);
  await endpoint.happens(`${id} begins`);
  expect((await operate(target, "cancel", invocation)).status).toBe(202);
  const next = call(target, `${named("StrictStore")}/${id}/take`, []);
  await stays("the only attempt", () => endpoint.attempts(invocation).length === 1, 1_000);
  endpoint.release(`${id}-1`);
  expect((await attach(target, invocation)).status).toBe(409);
  expect((await next).status).toBe(200);
  // Over HTTP/2 the SDK hears of it while the step runs, and ends the invocation without the step.
  expect(endpoint.count(`${id} begins`)).toBe(1);
};

const killed: Check = async ({ target, endpoint, named, id }) => {
  const path = `${named("Store")}/${id}`;
  const invocation = await send(target, `${path}/step`, id);
  await endpoint.happens(`${id} begins`);
  const next = call(target, `${path}/take`, []);
  expect((await operate(target, "kill", invocation)).status).toBe(200);
  expect((await next).status).toBe(200);
  expect(endpoint.count(`${id} ends`)).toBe(0);
  await endpoint.attempt("the reset", invocation, (one) => one.closedAt !== undefined);
  expect(endpoint.attempts(invocation)).toHaveLength(1);
  endpoint.release(`${id}-1`);
};

// The step is held for longer than both timeouts, and not as long as the stream may drain.
protocolSuite("overlaps", {
  "70c after the abort timeout the next attempt waits until the step has ended": retried,
  "78b one that is paused stops, and continues when it is resumed and the step has ended": paused,
  "72e one that is canceled is not attempted again while its step runs": canceled,
  "76b one that is killed frees its key at once, and its stream is reset": killed,
}, { options: { "worker.invoker.drain-timeout": "10s" } });
