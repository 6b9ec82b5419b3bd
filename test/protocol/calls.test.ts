import { expect } from "vitest";
import { attach, byTarget, call, operate, output, send, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import { frameOf, namesOf } from "./_wire.ts";

interface Called {
  readonly id: string;
  readonly value?: unknown;
  readonly code?: number;
}

const results: Check = async ({ target, endpoint, named, id, transport }) => {
  const service = named("Plain");
  const metadata = { why: "because" };
  const answer = await call(target, `${service}/calls`, [
    { service, method: "echo", parameter: id },
    { service, method: "refuse", parameter: { message: "no", code: 418, metadata } },
    { service: named("Store"), key: id, method: "many", parameter: 2 },
  ]);
  const seen = answer.body as Called[];
  expect(seen).toMatchObject([
    { value: id },
    { code: 418, message: "no", metadata },
    { value: 2 },
  ]);
  for (const one of seen) {
    const { status } = await output(target, one.id);
    expect(status).toBe(one.code ?? 200);
  }
  if (transport === "h1") return;
  const [attempt] = endpoint.attempts(idOf(target, answer));
  const pushed = namesOf(attempt, "in").slice(2);
  expect(pushed).toEqual(seen.flatMap(() => ["CallInvocationIdCompletion", "CallCompletion"]));
};

/** The id of the callee comes before the callee has done anything. */
const idAtOnce: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain");
  const answer = call(target, `${service}/parent`, {
    id,
    called: `${id}-called`,
    sent: `${id}-sent`,
    method: "hold",
  });
  const called = await endpoint.announces(`${id} called`);
  await endpoint.happens(`${id}-called hold`);
  expect((await output(target, called)).status).toBe(470);
  for (const one of ["called", "sent"]) endpoint.release(`${id}-${one}`);
  expect((await answer).body).toBe(`${id}-called`);
};

const delayed: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain"), delayMs = 1_500;
  const sentAt = Date.now();
  const answer = await call(target, `${service}/sends`, [
    { service, method: "echo", parameter: id, delay: delayMs },
    { service, method: "echo", parameter: id },
  ]);
  expect(Date.now() - sentAt).toBeLessThan(delayMs);
  const [pending = "", now = ""] = answer.body as string[];
  expect((await output(target, pending)).status).toBe(470);
  expect((await attach(target, now)).body).toBe(id);
  expect((await attach(target, pending)).body).toBe(id);
  const [attempt] = endpoint.attempts(pending);
  // The clock that counts is the one of the endpoint, which the test shares.
  const [sender] = endpoint.attempts(idOf(target, answer));
  const askedAt = frameOf(sender, "OneWayCallCommand").at;
  expect(attempt?.openedAt).toBeGreaterThanOrEqual(askedAt + delayMs - 20);
};

const idempotent: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain");
  const twice = { service, method: "nap", parameter: { id, ms: 1 }, idempotencyKey: id };
  const seen = await value(target, `${service}/calls`, [twice, twice]) as Called[];
  expect(seen).toEqual([seen[0], seen[0]]);
  expect(seen[0]?.value).toBe(id);
  const [again] = await value(target, `${service}/sends`, [twice]) as string[];
  expect(again).toBe(seen[0]?.id);
  const failing = {
    ...twice,
    method: "refuse",
    parameter: { message: "never", code: 499 },
  };
  const refused = await value(target, `${service}/calls`, [failing, failing]) as Called[];
  expect(refused[0]).toMatchObject({ code: 499, message: "never" });
  expect(refused[1]).toEqual(refused[0]);
  expect(endpoint.attempts(refused[0]?.id).length).toBe(1);
  expect(endpoint.count(`${id} before`)).toBe(1);
};

const joined: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain");
  const one = { service, method: "hold", parameter: id, idempotencyKey: id };
  const waiting = [1, 2].map(() => value(target, `${service}/calls`, [one]) as Promise<Called[]>);
  await endpoint.happens(`${id} hold`);
  const byHand = call(target, `${service}/hold`, "ignored", { headers: { "idempotency-key": id } });
  endpoint.release(id);
  const [first, second] = await Promise.all(waiting);
  expect(second).toEqual(first);
  const answer = await byHand;
  expect([answer.body, idOf(target, answer)]).toEqual([id, first?.[0]?.id]);
  expect(endpoint.count(`${id} hold`)).toBe(1);
};

const disconnected: Check = async ({ target, endpoint, named, id }) => {
  const caller = new AbortController();
  const headers = { "idempotency-key": id };
  const gone = call(target, `${named("Plain")}/hold`, id, { headers, signal: caller.signal })
    .catch((cause: Error) => cause.name);
  await endpoint.happens(`${id} hold`);
  caller.abort();
  expect(await gone).toBe("AbortError");
  endpoint.release(id);
  await endpoint.happens(`${id} released`);
  const answer = await call(target, `${named("Plain")}/hold`, id, { headers });
  expect(answer.body).toBe(id);
  expect(endpoint.count(`${id} hold`)).toBe(1);
};

/** A callee that was killed answers its caller. */
const killedCallee: Check = async ({ target, endpoint, named, id }) => {
  const service = named("Plain");
  const caller = await send(target, `${service}/calls`, [
    { service, method: "nap", parameter: { id, ms: 60_000 }, idempotencyKey: id },
  ]);
  await endpoint.happens(`${id} asleep`);
  const keyed = { target: "idempotentInvocation", service, handler: "nap", idempotencyKey: id };
  const { body } = await byTarget(target, "lookup", keyed);
  const { invocationId } = body as { invocationId: string };
  expect((await operate(target, "kill", invocationId)).status).toBe(200);
  expect((await attach(target, caller)).body).toMatchObject([{ code: 409, message: "killed" }]);
};

protocolSuite("calls", {
  "34 a call is answered by the callee's id and its value or failure": results,
  "34b the callee's id comes at once": idAtOnce,
  "34c a callee that was killed answers too": killedCallee,
  "35 a one-way call with a delay: its id at once, its start later": delayed,
  "36 a second call with an idempotency key gets the first one's id and result": idempotent,
  "36b calls with a key of one that runs wait for its result": joined,
  "90 a caller who goes away changes nothing for the invocation": disconnected,
});
