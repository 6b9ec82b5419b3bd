import { expect } from "vitest";
import { NotificationSchema } from "../../src/wire/gen/service_pb.ts";
import { attach, awakeable, byTarget, call, operate, output, send, value } from "./_ask.ts";
import { type Check, protocolSuite } from "./_suite.ts";
import { decoded, frameOf, isSuspended, namesOf } from "./_wire.ts";

const slept = (service: string): Check => async ({ target, endpoint, named, id }) => {
  const startedAt = Date.now();
  const invocation = await send(target, `${named(service)}/nap`, { id, ms: 400 });
  await endpoint.happens(`${id} asleep`);
  if (service === "Sleepy") await endpoint.suspends(invocation);
  expect((await attach(target, invocation)).body).toBe(id);
  expect(Date.now() - startedAt).toBeGreaterThanOrEqual(400);
  expect(endpoint.count(`${id} after`)).toBe(1);
  const last = endpoint.attempts(invocation).at(-1);
  expect(namesOf(last, "in").filter((name) => name === "SleepCompletion")).toHaveLength(1);
};

/** Resolved and rejected, over HTTP and from a handler. */
const awakened = (service: string): Check => async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named(service)}/awakeables`, { id, count: 4 });
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push(await endpoint.announces(`${id} awakeable ${i}`));
  const [resolved = "", rejected = "", resolvedInside = "", rejectedInside = ""] = ids;
  if (service === "Sleepy") await endpoint.suspends(invocation);
  expect((await awakeable(target, resolved, "resolve", { a: 1 })).status).toBe(202);
  await value(target, `${named("Plain")}/resolve`, { awakeable: resolvedInside, value: "in" });
  const refusal = { awakeable: rejectedInside, reason: "not in" };
  await value(target, `${named("Plain")}/reject`, refusal);
  if (service === "Sleepy") await endpoint.suspends(invocation);
  expect((await awakeable(target, rejected, "reject", "no way")).status).toBe(202);
  expect((await attach(target, invocation)).body).toEqual([
    { value: { a: 1 } },
    { code: 500, message: "no way", metadata: {} },
    { value: "in" },
    { code: 500, message: "not in", metadata: {} },
  ]);
  const last = endpoint.attempts(invocation).at(-1);
  const indexes = decoded(last, "SignalNotification", NotificationSchema).map((one) =>
    one.id.value
  );
  expect(indexes.toSorted()).toEqual([17, 18, 19, 20]);
  // Late ones are accepted and forgotten.
  expect((await awakeable(target, resolved, "resolve", 2)).status).toBe(202);
};

const reversed: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Sleepy")}/awakeables`, { id, count: 2 });
  const first = await endpoint.announces(`${id} awakeable 0`);
  const second = await endpoint.announces(`${id} awakeable 1`);
  await awakeable(target, second, "resolve", "second");
  await awakeable(target, first, "resolve", "first");
  expect((await attach(target, invocation)).body).toEqual([
    { value: "first" },
    { value: "second" },
  ]);
};

/** The target runs when it is sent, and awaits it only later. */
const earlySignal: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Sleepy")}/signals`, {
    id,
    names: ["a", "b"],
    hold: true,
  });
  await endpoint.announces(`${id} started`);
  const signal = (name: string, more: object) =>
    value(target, `${named("Plain")}/sendSignal`, { target: invocation, name, ...more });
  await signal("b", { reason: "no b" });
  await signal("a", { value: "an a" });
  endpoint.release(id);
  expect((await attach(target, invocation)).body).toMatchObject([
    { value: "an a" },
    { code: 500, message: "no b" },
  ]);
};

const lateAttempt: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Sleepy")}/signals`, {
    id,
    names: ["a"],
    napMs: 600,
  });
  await endpoint.suspends(invocation);
  const signal = { target: invocation, name: "a", value: 1 };
  await value(target, `${named("Plain")}/sendSignal`, signal);
  expect((await attach(target, invocation)).body).toEqual([{ value: 1 }]);
};

/** Before its first attempt: waiting for its time, or for its turn. */
const beforeStart: Check = async ({ target, endpoint, named, id }) => {
  const scheduled = await send(target, `${named("Plain")}/signals`, { id, names: ["a"] }, {
    query: "delay=500ms",
  });
  const signal = { target: scheduled, name: "a", value: "kept" };
  await value(target, `${named("Plain")}/sendSignal`, signal);
  await endpoint.announces(`${id} started`);
  expect((await attach(target, scheduled)).body).toEqual([{ value: "kept" }]);
};

const toNobody: Check = async ({ target, endpoint, named, id }) => {
  const done = await send(target, `${named("Plain")}/echo`, id);
  await attach(target, done);
  const unknown = `${done.slice(0, -4)}aaaa`;
  for (const one of [done, unknown]) {
    const signal = { target: one, name: "a", value: 1 };
    expect(await value(target, `${named("Plain")}/sendSignal`, signal)).toBe("sent");
    await value(target, `${named("Plain")}/cancelOther`, one);
  }
  expect((await output(target, done)).body).toBe(id);
  expect((await output(target, unknown)).status).toBe(404);
  expect(endpoint.attempts(done)).toHaveLength(1);
};

const attached: Check = async ({ target, endpoint, named, id }) => {
  const plain = named("Plain");
  const byId = call(target, `${plain}/hold`, id, { headers: { "idempotency-key": id } });
  await endpoint.happens(`${id} hold`);
  const keyed = { target: "idempotentInvocation", service: plain, handler: "hold" };
  const lookup = await byTarget(target, "lookup", { ...keyed, idempotencyKey: id });
  const { invocationId } = lookup.body as { invocationId: string };
  const waiting = [
    attach(target, invocationId),
    byTarget(target, "attach", { ...keyed, idempotencyKey: id }),
    byTarget(target, "attach", { target: "invocation", invocationId }),
  ];
  const fromHandler = send(target, `${named("Sleepy")}/attach`, invocationId);
  await endpoint.attempt(
    "an attach",
    await fromHandler,
    (one) =>
      isSuspended(one) && namesOf(one, "in").concat(namesOf(one, "out"))
        .includes("AttachInvocationCommand"),
  );
  expect((await output(target, invocationId)).status).toBe(470);
  endpoint.release(id);
  for (const answer of await Promise.all([byId, ...waiting])) expect(answer.body).toBe(id);
  expect((await attach(target, await fromHandler)).body).toEqual({ value: id });
  const unknown = `${invocationId.slice(0, -4)}aaaa`;
  expect(await value(target, `${plain}/attach`, unknown))
    .toMatchObject({ code: 404, message: "not found" });
};

const noOutput: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Plain")}/hold`, id);
  await endpoint.happens(`${id} hold`);
  expect(await output(target, invocation)).toMatchObject({ status: 470 });
  endpoint.release(id);
  await attach(target, invocation);
  expect(await output(target, invocation)).toMatchObject({ status: 200, body: id });
  expect(frameOf(endpoint.attempts(invocation)[0], "OutputCommand").way).toBe("out");
  expect((await operate(target, "cancel", invocation)).status).toBe(409);
};

protocolSuite("waiting", {
  "38 a sleep is completed once, when its time has come": slept("Plain"),
  "38b the same when suspended meanwhile": slept("Sleepy"),
  "40 awakeables are resolved and rejected, over HTTP and by handlers": awakened("Plain"),
  "40b the same when suspended meanwhile": awakened("Sleepy"),
  "41 two awakeables resolved in reverse order each get their own value": reversed,
  "42 signals sent before they are awaited are found": earlySignal,
  "42b the same in a later attempt": lateAttempt,
  "42c signals are kept that were sent before the first attempt": beforeStart,
  "43 a signal to who is done or unknown is dropped, its sender unaffected": toNobody,
  "44 attach by id and by key, over HTTP and by a handler, brings the result": attached,
  "45 the output of who is running is not ready, and said at once": noOutput,
});
