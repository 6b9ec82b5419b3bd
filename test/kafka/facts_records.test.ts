import kafkajs from "kafkajs";
import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, headerOf, LONG_KINDS, textOf } from "./_facts.ts";

const jars = await brokerTools();

for (const kind of LONG_KINDS) {
  describe.skipIf(jars === undefined)(`records of any form become invocations of ${kind}`, () => {
    const on = facts(jars, kind);

    test.each(["gzip", "snappy", "lz4", "zstd"])("packed by %s", async (codec) => {
      const texts = Array.from({ length: 120 }, (_, n) => `${n} ${"repeats ".repeat(n % 50)}`);
      // The broker packs them anew, as a Java client does.
      const topic = await on.topic(texts, { settings: { "compression.type": codec } });
      await on.subscribe(topic, "Plain/take");
      expect((await on.sees(topic, texts.length)).map(textOf).toSorted()).toEqual(texts.toSorted());
    });

    test("of committed transactions only, and without their markers", async () => {
      const topic = await on.topic();
      const transactional = on.topics.kafka.producer({
        transactionalId: topic,
        maxInFlightRequests: 1,
        idempotent: true,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      });
      await transactional.connect();
      for (const [value, end] of [["a", "abort"], ["b", "commit"], ["c", "abort"]] as const) {
        const transaction = await transactional.transaction();
        await transaction.send({ topic, messages: [{ value }] });
        await transaction[end]();
      }
      await transactional.disconnect();
      await on.topics.send(topic, "after");
      await on.subscribe(topic, "Plain/take");
      const seen = await on.sees(topic, 2);
      expect(seen.map(textOf).toSorted()).toEqual(["after", "b"]);
    });

    test("of 3 MB, among others", async () => {
      const large = "large".padEnd(3_000_000, "y");
      const settings = { "max.message.bytes": "4000000" };
      const topic = await on.topic(["before", large, "after"], { settings });
      await on.subscribe(topic, "Plain/take");
      const seen = await on.sees(topic, 3);
      expect(seen.map((one) => textOf(one).length).toSorted((a, b) => a - b))
        .toEqual([5, 6, large.length]);
    });

    test("for a shared handler of an object, which gets the same key", async () => {
      const topic = await on.topic([{ key: "a", value: "1" }, { value: "2" }]);
      await on.subscribe(topic, "Box/peek");
      const seen = await on.sees(topic, 2);
      expect(seen.map((one) => [textOf(one), one.key]).toSorted()).toEqual([["1", "a"], ["2", ""]]);
    });

    test("are kept for a day, and nobody has called them", async () => {
      const topic = await on.topic([{ key: on.name(), value: "v" }]);
      const id = await on.subscribe(topic, "Flow/run");
      await on.sees(topic, 1);
      const rows = await on.sql(
        "SELECT completion_retention, journal_retention, invoked_by_id, invoked_by_target " +
          `FROM sys_invocation WHERE invoked_by_subscription_id = '${id}'`,
      );
      expect(rows).toEqual([{ completion_retention: "PT86400S", journal_retention: "PT86400S" }]);
    });

    test("of two equal subscriptions twice, with the id of each", async () => {
      const topic = await on.topic(["v"]);
      const ids = [
        await on.subscribe(topic, "Plain/take"),
        await on.subscribe(topic, "Plain/take"),
      ];
      const seen = await on.sees(topic, 2);
      const subscriptionOf = (one: typeof seen[number]) =>
        headerOf(one, "svc.subscription.id") ?? headerOf(one, "restate.subscription.id");
      expect(seen.map(subscriptionOf).toSorted()).toEqual(ids.toSorted());
    });
  });
}
