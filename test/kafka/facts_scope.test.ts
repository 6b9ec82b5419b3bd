import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, LONG_KINDS, textOf } from "./_facts.ts";

const jars = await brokerTools();
const settings = {
  "experimental-enable-vqueues": "true",
  "experimental-enable-kafka-scope": "true",
};

for (const kind of LONG_KINDS) {
  describe.skipIf(jars === undefined)(`scopes of record headers on ${kind}`, () => {
    const on = facts(jars, kind, { settings });

    test("scope and limit key are those of the record, and not shown to the handler", async () => {
      const headers = { "x-restate-scope": "tenant", "x-restate-limit-key": "a/b" };
      const odd = { ...headers, "x-restate-limit-key": "a/b/c/d" };
      const topic = await on.topic([{ value: "1", headers }, { value: "2", headers: odd }]);
      const id = await on.subscribe(topic, "Plain/take");
      const seen = await on.sees(topic, 2);
      expect(seen.flatMap((one) => one.headers.map(([name]) => name)).join()).not.toMatch(/scope/);
      const rows = await on.sql(
        "SELECT scope, limit_key FROM sys_invocation " +
          `WHERE invoked_by_subscription_id = '${id}' ORDER BY limit_key DESC`,
      );
      const sorted = rows.toSorted((a, b) => Object.keys(b).length - Object.keys(a).length);
      expect(sorted).toEqual([{ scope: "tenant", limit_key: "a/b" }, { scope: "tenant" }]);
    });

    test.each([
      ["a limit key without a scope", { "x-restate-limit-key": "a" }],
      ["a scope that is too long", { "x-restate-scope": "s".repeat(60) }],
    ])("%s stops its partition, and no other", async (_, headers) => {
      const topic = await on.topic([], { partitions: 2 });
      await on.topics.send(
        topic,
        { partition: 0, value: "bad", headers },
        { partition: 0, value: "behind" },
        { partition: 1, value: "other" },
      );
      await on.subscribe(topic, "Plain/take");
      await on.sees(topic, 1);
      await on.topics.send(topic, { partition: 1, value: "later" });
      expect((await on.sees(topic, 2)).map(textOf)).toEqual(["other", "later"]);
    });
  });
}
