import { expect } from "vitest";
import { InputCommandSchema } from "../../src/wire/gen/service_pb.ts";
import { call, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite, type World } from "./_suite.ts";
import { decoded, frameOf, jsonOf, startOf } from "./_wire.ts";

/** `Start.state_map` of the last attempt of an invocation, read. */
function stateOf({ endpoint }: World, invocation: string): Record<string, unknown> {
  const { stateMap } = startOf(endpoint.attempts(invocation).at(-1));
  const decoder = new TextDecoder();
  return Object.fromEntries(stateMap.map((one) => [decoder.decode(one.key), jsonOf(one.value)]));
}

const headers: Check = async ({ target, endpoint, named, id }) => {
  const answer = await call(target, `${named("Plain")}/headers`, { id, failures: 1 }, {
    headers: { "x-second": "2", "x-first": "1" },
  });
  const seen = answer.body as [string, string][];
  expect(new Map(seen)).toEqual(
    new Map([...new Map(seen), ["x-second", "2"], ["x-first", "1"]]),
  );
  const [first, second] = endpoint.attempts(idOf(target, answer));
  expect(frameOf(second, "InputCommand").body).toEqual(frameOf(first, "InputCommand").body);
  const [input] = decoded(first, "InputCommand", InputCommandSchema);
  expect(seen).toEqual(input?.headers.map((header) => [header.key, header.value]));
};

const eagerState: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const store = `${named("Store")}/${id}`;
  await value(target, `${store}/put`, { a: 1, b: "two", c: [3] });
  for (const handler of ["take", "all"]) {
    const answer = await call(target, `${store}/${handler}`, ["a", "b"]);
    expect(answer.body).toEqual(handler === "take" ? [1, "two"] : { a: 1, b: "two", c: [3] });
    const invocation = idOf(target, answer);
    expect(stateOf(world, invocation)).toEqual({ a: 1, b: "two", c: [3] });
    const start = startOf(endpoint.attempts(invocation)[0]);
    expect([start.partialState, start.key]).toEqual([false, id]);
  }
};

const lazyState: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const store = `${named("LazyStore")}/${id}`;
  await value(target, `${store}/put`, { a: 1, b: 2 });
  const answer = await call(target, `${store}/take`, ["a", "none"]);
  expect(answer.body).toEqual([1, null]);
  expect((await call(target, `${store}/all`)).body).toEqual({ a: 1, b: 2 });
  for (const attempt of endpoint.attempts(idOf(target, answer))) {
    const start = startOf(attempt);
    expect([start.stateMap, start.partialState]).toEqual([[], true]);
  }
};

const sameStart: Check = async ({ target, endpoint, named, id }) => {
  const answer = await call(target, `${named("Plain")}/random`, { id, failures: 1 });
  const [first, second] = endpoint.attempts(idOf(target, answer)).map(startOf);
  expect(first?.debugId).toBe(idOf(target, answer));
  expect(first?.randomSeed).not.toBe(0n);
  for (const field of ["id", "debugId", "randomSeed"] as const) {
    expect(second?.[field]).toEqual(first?.[field]);
  }
  const line = `${id} random ${JSON.stringify(answer.body)}`;
  expect(endpoint.count(line)).toBe(2);
};

const bigState: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const store = `${named("Store")}/${id}`;
  const entries = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`key${i}`, String(i).repeat(400)]),
  );
  await value(target, `${store}/put`, entries);
  const answer = await call(target, `${store}/take`, Object.keys(entries));
  expect(answer.body).toEqual(Object.values(entries));
  expect((await call(target, `${store}/all`)).body).toEqual(entries);
  const invocation = idOf(target, answer);
  const start = startOf(endpoint.attempts(invocation)[0]);
  expect(start.partialState).toBe(true);
  const bytes = start.stateMap.reduce((sum, one) => sum + one.key.length + one.value.length, 0);
  expect(bytes).toBeGreaterThan(400);
  expect(bytes).toBeLessThanOrEqual(1024);
  // What came is whole.
  expect(entries).toMatchObject(stateOf(world, invocation));
};

protocolSuite("start of an attempt", {
  "20 headers of a caller are in Input, in order, the same on every attempt": headers,
  "22 Start carries all state of an object, to any handler": eagerState,
  "24 with lazy state Start carries none, and reads are answered": lazyState,
  "25 two attempts of one invocation have the same id, seed and randomness": sameStart,
});

protocolSuite("start of an attempt with little room", {
  "23 state over the eager limit is cut between entries, the rest is read lazily": bigState,
}, { options: { "worker.invoker.eager-state-size-limit": "1KiB" } });
