import { expect } from "vitest";
import { call, value } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import { jsonOf, startOf } from "./_wire.ts";

const writes: Check = async ({ target, named, id }) => {
  const store = `${named("Store")}/${id}`;
  await value(target, `${store}/sequence`);
  expect(await value(target, `${store}/all`)).toEqual({ b: 3, c: 4 });
  await value(target, `${store}/sequenceAll`);
  expect(await value(target, `${store}/all`)).toEqual({ y: 2 });
};

const retried: Check = async ({ target, endpoint, named, id }) => {
  const store = `${named("Store")}/${id}`;
  await value(target, `${store}/put`, { value: "old" });
  const answer = await call(target, `${store}/writeThenFail`, { id, value: "new", failures: 2 });
  expect(answer.body).toEqual(["old", "new"]);
  const last = startOf(endpoint.attempts(idOf(target, answer)).at(-1));
  expect(last.stateMap.map((one) => jsonOf(one.value))).toEqual(["new"]);
  expect(endpoint.count(`${id} written`)).toBe(1);
};

const many: Check = async ({ target, named, id }) => {
  for (const service of ["Store", "LazyStore"]) {
    const store = `${named(service)}/${id}`;
    expect(await value(target, `${store}/many`, 1_000)).toBe(1_000);
    const all = await value(target, `${store}/take`, ["k0", "k500", "k999", "k1000"]);
    expect(all).toEqual([0, 500, 999, null]);
  }
};

protocolSuite("state", {
  "32 set, clear and clearAll take effect in their order, for the next invocation": writes,
  "33 what was written before a failure is in Start, what was read stays as read": retried,
  "46 a thousand writes, an output and the end in one go all count": many,
});
