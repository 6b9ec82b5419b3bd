import { expect } from "vitest";
import { attach, awakeable, call, output, send, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import { namesOf, startOf } from "./_wire.ts";

const ended: Check = async ({ target, endpoint, named, id }) => {
  const answer = await call(target, `${named("Plain")}/echo`, id);
  const invocation = idOf(target, answer);
  const { frames, inEndedAt, outEndedAt } = await endpoint.attempt(
    "the end of both halves",
    invocation,
    (one) => one.closedAt !== undefined,
  );
  expect(frames.filter((one) => one.way === "out").map((one) => one.name))
    .toEqual(["OutputCommand", "End"]);
  expect(inEndedAt).toBeDefined();
  expect(outEndedAt).toBeDefined();
};

const refused: Check = async ({ target, endpoint, named, id }) => {
  const metadata = { reason: id, more: "x" };
  const refusal = { message: "no way", code: 418, metadata };
  const answer = await call(target, `${named("Plain")}/refuse`, refusal);
  expect([answer.status, answer.body]).toEqual([
    418,
    { ...refusal, source: "invocation" },
  ]);
  expect(answer.headers.get(target.header("error-source"))).toBe("invocation");
  const attempts = endpoint.attempts(idOf(target, answer));
  expect(attempts).toHaveLength(1);
  expect(namesOf(attempts[0], "out")).toEqual(["OutputCommand", "End"]);
  expect((await output(target, idOf(target, answer))).status).toBe(418);
};

const suspended: Check = async ({ target, endpoint, named, id, transport }) => {
  const sentAt = Date.now();
  const invocation = await send(target, `${named("Sleepy")}/timeout`, { id, ms: 300_000 });
  const attempt = await endpoint.suspends(invocation);
  expect(attempt.inEndedAt).toBeDefined();
  if (transport === "h2") expect(Date.now() - sentAt).toBeGreaterThanOrEqual(100);
  expect((await output(target, invocation)).status).toBe(470);
  const open = endpoint.attempts(invocation).filter((one) => one.closedAt === undefined);
  expect(open).toEqual([]);
  const made = await endpoint.announces(`${id} awakeable 0`);
  await awakeable(target, made, "resolve", "woken");
  expect((await attach(target, invocation)).body).toEqual({ value: "woken" });
};

const aborted: Check = async ({ target, endpoint, named, id }) => {
  const store = `${named("StrictStore")}/${id}`;
  const invocation = await send(target, `${store}/late`, id);
  await endpoint.happens(`${id} attempt`, 2);
  const [first] = endpoint.attempts(invocation);
  const lastedMs = (first?.closedAt ?? Infinity) - (first?.openedAt ?? 0);
  expect(lastedMs).toBeGreaterThanOrEqual(190);
  expect((await attach(target, invocation)).body).toBe("second");
  // Now the first attempt would write.
  endpoint.release(id);
  await endpoint.happens(`${id} late`);
  expect(await value(target, `${store}/all`)).toEqual({});
  expect(await output(target, invocation)).toMatchObject({ body: "second" });
  expect(startOf(endpoint.attempts(invocation)[1]).knownEntries).toBe(1);
};

protocolSuite("ends", {
  "47 after Output and End the invocation is complete and the request half is closed": ended,
  "48 a terminal error is an output: code, message and metadata, no second attempt": refused,
  "69 after the inactivity timeout an attempt is suspended, no stream is open": suspended,
  "70 after the abort timeout an attempt is over, what it writes late is nothing": aborted,
});
