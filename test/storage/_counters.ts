import fc from "fast-check";
import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Rows } from "../../src/model/rows.ts";

/** Names that storage gets wrong first: NUL, quotes, lone surrogates, wide characters, markers. */
export const NAMES = [
  "a",
  "b",
  "nul\0nul",
  "\x01\x02",
  `quo"te's\\u0000`,
  "\ud800",
  "\udfff tail",
  "\ue000\u0900",
  "\u{1f600} ü",
  "\uffff",
];
export const name = fc.constantFrom(...NAMES);
export const time = fc.constantFrom(0, 1, 10, 11, 100, 1732190000123, 8.64e15);
export const count = fc.nat(12);

/** Rows of counters (`engine/flow/counters.ts`) and sources, in partition 3. */
export const bucket = fc.record({ counter: name, tokens: count, at: time, fullAt: time });
export const share = fc.record({
  partition: fc.constant(3),
  counter: name,
  slots: count,
  starts: count,
  asksSlots: fc.boolean(),
  asksStarts: fc.boolean(),
  isWanted: fc.boolean(),
});
export const bank = fc.record({
  counter: name,
  given: fc.constantFrom<Rows["bank"]["given"]>({}, { 0: 1 }, { 3: 7, 10: 2 }),
  waiting: fc.array(fc.record({ from: count, slots: count, starts: count }), { maxLength: 2 }),
  told: fc.array(count, { maxLength: 2 }),
});
export const source: fc.Arbitrary<Rows["source"]> = fc.record({
  home: fc.constant(3),
  source: fc.record({
    subscription: fc.constantFrom("sub_1a", "sub_1b"),
    group: name,
    topic: fc.constantFrom("t", "t.u-v_w"),
    partition: fc.constantFrom(0, 1, 10),
  }),
  next: fc.constantFrom(0, 7, 2 ** 53 - 1),
  settled: count,
  earlier: fc.array(fc.array(count, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
}, { requiredKeys: ["home", "source", "next", "settled"] });
/** Of invocations: most are of none. */
export const origin: fc.Arbitrary<InvocationRow["origin"]> = fc.constantFrom(
  { by: "ingress" },
  { by: "subscription", id: "sub_1a" },
  { by: "subscription", id: "sub_1b" },
);
