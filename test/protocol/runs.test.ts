import { expect } from "vitest";
import { ErrorSchema, NotificationSchema } from "../../src/wire/gen/service_pb.ts";
import { attach, call, send, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import { decoded, jsonOf, namesOf, startOf } from "./_wire.ts";

const pushed: Check = async ({ target, endpoint, named, id, transport }) => {
  const answer = await call(target, `${named("Plain")}/steps`, { id, names: ["a"] });
  expect(answer.body).toEqual(["a-1"]);
  const attempts = endpoint.attempts(idOf(target, answer));
  expect(attempts.length).toBe(transport === "h2" ? 1 : 2);
  const last = attempts.at(-1);
  const expected = transport === "h2"
    ? ["Start", "InputCommand", "RunCompletion"]
    : ["Start", "InputCommand", "RunCommand", "RunCompletion"];
  expect(namesOf(last, "in")).toEqual(expected);
  const [completion] = decoded(last, "RunCompletion", NotificationSchema);
  const { result } = completion ?? {};
  expect(result?.case).toBe("value");
  expect(result?.case === "value" && jsonOf(result.value.content)).toBe("a-1");
};

const policy: Check = async ({ target, endpoint, named, id }) => {
  const answer = await call(target, `${named("Plain")}/runPolicy`, { id, attempts: 3 });
  expect(answer.body).toMatchObject({ code: 500, message: expect.stringContaining("never") });
  expect(endpoint.count(`${id} doomed`)).toBe(3);
  const retries = endpoint.attempts(idOf(target, answer)).map(startOf)
    .map((start) => start.retryCountSinceLastStoredEntry);
  expect(Math.max(...retries)).toBe(2);
  // Only a count above 0 is looked at together with the duration.
  expect(retries.filter((count) => count > 0)).toEqual([1, 2]);
};

const mismatch: Check = async ({ target, endpoint, named, id }) => {
  const invocation = await send(target, `${named("Plain")}/changing`, id);
  await endpoint.happens(`${id} attempt`, 1);
  endpoint.release(`${id}-changed`);
  await endpoint.attempt(
    "a journal mismatch",
    invocation,
    (attempt) => decoded(attempt, "Error", ErrorSchema).some(({ code }) => code === 570),
  );
  endpoint.unrelease(`${id}-changed`);
  endpoint.release(id);
  expect((await attach(target, invocation)).body).toBe("healed");
  expect(endpoint.count(`${id} original`)).toBe(1);
};

const sequence: Check = async ({ target, endpoint, named, id, transport }) => {
  const answer = await call(target, `${named("Plain")}/mixed`, id);
  expect(answer.body).toEqual(["step", "call", "slept"]);
  const invocation = idOf(target, answer);
  // The answer to the caller may overtake the end of the last request.
  await endpoint.attempt("an end", invocation, ({ inEndedAt }) => inEndedAt !== undefined);
  const attempts = endpoint.attempts(invocation);
  for (const attempt of attempts) {
    const { knownEntries } = startOf(attempt);
    if (transport === "h1") {
      expect(attempt.frames.filter((f) => f.way === "in").length)
        .toBe(1 + knownEntries);
    }
    expect(attempt.inEndedAt).toBeDefined();
  }
  const known = attempts.map((attempt) => startOf(attempt).knownEntries);
  expect(known).toEqual(known.toSorted((a, b) => a - b));
  expect(attempts.length).toBeLessThanOrEqual(transport === "h1" ? 5 : 1);
  expect(endpoint.count(`${id} step`)).toBe(1);
};

const requests: Check = async ({ target, endpoint, named, id, transport }) => {
  const names = ["a", "b", "c", "d", "e"];
  const answer = await call(target, `${named("Plain")}/steps`, { id, names });
  expect(answer.body).toEqual(names.map((name) => `${name}-1`));
  const attempts = endpoint.attempts(idOf(target, answer));
  expect(attempts.length).toBe(transport === "h1" ? names.length + 1 : 1);
  expect(await value(target, `${named("Plain")}/echo`, id)).toBe(id);
};

protocolSuite("steps", {
  "28 a RunCompletion is stored and pushed in full": pushed,
  "31 a step with 3 attempts is executed three times, then fails for good": policy,
  "67 code that takes another path fails the attempt, and heals when it is put right": mismatch,
  "79 a step, a call and a sleep: each attempt gets the whole journal": sequence,
  "80 n steps one after the other: n + 1 requests without a stream both ways": requests,
});
