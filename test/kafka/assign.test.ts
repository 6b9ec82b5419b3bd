import fc from "fast-check";
import { expect, test } from "vitest";
import { assignRange, assignRoundRobin } from "../../src/kafka/assign.ts";

const member = (id: string, ...topics: string[]) => ({ id, topics });
const counts = new Map([["t", 5], ["u", 1]]);

test("range gives neighbours, and the first members one more", () => {
  const members = [member("b", "t", "u"), member("a", "t", "u")];
  expect(assignRange(members, counts)).toEqual({
    a: { t: [0, 1, 2], u: [0] },
    b: { t: [3, 4] },
  });
});

test("roundrobin gives all partitions in turn, to members that want the topic", () => {
  const members = [member("b", "t"), member("a", "t", "u")];
  expect(assignRoundRobin(members, counts)).toEqual({
    a: { t: [0, 2, 4], u: [0] },
    b: { t: [1, 3] },
  });
  expect(assignRoundRobin([member("a", "x")], counts)).toEqual({ a: {} });
});

test.each([["range", assignRange], ["roundrobin", assignRoundRobin]])(
  "%s gives every partition that somebody wants exactly once, to one of them",
  (_, assign) => {
    const topics = fc.uniqueArray(fc.constantFrom<string>("t", "u", "v"));
    const members = fc.uniqueArray(fc.record({ id: fc.string(), topics }), {
      selector: ({ id }) => id,
      minLength: 1,
    });
    const counted = fc.dictionary(fc.constantFrom("t", "u", "v"), fc.nat(9));
    fc.assert(fc.property(members, counted, (group, counted) => {
      const given = Object.entries(assign(group, new Map(Object.entries(counted))))
        .flatMap(
          ([id, byTopic]) =>
            Object.entries(byTopic).flatMap(([topic, partitions]) => {
              expect(group.find((one) => one.id === id)?.topics).toContain(topic);
              return partitions.map((partition) => `${topic}-${partition}`);
            }),
        );
      const wanted = Object.entries(counted).flatMap(([topic, count]) =>
        group.some((one) => one.topics.includes(topic))
          ? Array.from({ length: count }, (_, partition) => `${topic}-${partition}`)
          : []
      );
      expect(given.sort()).toEqual(wanted.sort());
    }));
  },
);
