import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, headerOf, KINDS, textOf } from "./_facts.ts";

const jars = await brokerTools();

for (const kind of KINDS) {
  describe.skipIf(jars === undefined)(`records become invocations of ${kind}`, () => {
    const on = facts(jars, kind);

    test("the handler gets the value's bytes and six headers, and no header of the record", async () => {
      const value = Buffer.from([0, 255, 10, 13, 200]);
      const names = [
        "kafka.offset",
        "content-type",
        "traceparent",
        "",
        "é",
        "toString",
        "__proto__",
      ];
      const headers = Object.fromEntries(names.map((name) => [name, "9"]));
      const topic = await on.topic([
        "first",
        { key: Buffer.from([251, 255, 254]), value, headers, timestamp: "1700000000123" },
      ]);
      const id = await on.subscribe(topic, "Plain/take");
      const seen = await on.sees(topic, 2);
      const record = seen.find((one) => headerOf(one, "kafka.offset") === "1")!;
      expect(record.value).toBe(value.toString("base64"));
      expect(record.headers.map(([name, text]) => [name.replace(/^(svc|restate)\./, "svc."), text]))
        .toEqual([
          ["kafka.offset", "1"],
          ["kafka.topic", topic],
          ["kafka.partition", "0"],
          ["kafka.timestamp", "1700000000123"],
          ["svc.subscription.id", id],
          ["kafka.key", "-__-"],
        ]);
      const other = seen.find((one) => headerOf(one, "kafka.offset") === "0")!;
      expect(other.headers.map(([name]) => name)).not.toContain("kafka.key");
    });

    test("the key of an object is the text of the record's key, whatever the text", async () => {
      const keys = ["a b", "x/y", "%41", '"q"', "\0", "ключ", "k".repeat(300), ""];
      const topic = await on.topic([
        ...keys.map((key) => ({ key: Buffer.from(key), value: "v" })),
        { key: null, value: "none" },
      ]);
      await on.subscribe(topic, "Box/take");
      const seen = await on.sees(topic, keys.length + 1);
      const byValue = (value: string) => seen.filter((one) => textOf(one) === value);
      expect(byValue("v").map(({ key }) => key).toSorted()).toEqual(keys.toSorted());
      expect(headerOf(byValue("v").find(({ key }) => key === "")!, "kafka.key")).toBe("");
      expect(byValue("none").map((one) => [one.key, headerOf(one, "kafka.key")]))
        .toEqual([["", undefined]]);
    });

    test("a service takes keys that are no text, and a private handler takes records", async () => {
      const topic = await on.topic([{ key: Buffer.from([255]), value: "v" }, "w"]);
      await on.subscribe(topic, "Plain/own");
      expect((await on.sees(topic, 2)).map(textOf).toSorted()).toEqual(["v", "w"]);
    });

    test("records of a key run in the order of their partition", async () => {
      const count = 120;
      const messages = Array.from({ length: count }, (_, n) => ({
        key: `k${n % 3}`,
        value: String(n),
      }));
      const topic = await on.topic(messages, { partitions: 2 });
      await on.subscribe(topic, "Box/take");
      const seen = await on.sees(topic, count);
      for (const key of ["k0", "k1", "k2"]) {
        const numbers = seen.filter((one) => one.key === key).map((one) => Number(textOf(one)));
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
        expect(numbers).toHaveLength(count / 3);
      }
    });

    test("tombstones and empty values are empty inputs", async () => {
      const topic = await on.topic([{ key: "a", value: null }, { key: "b", value: "" }]);
      await on.subscribe(topic, "Box/take");
      expect((await on.sees(topic, 2)).map(({ value }) => value)).toEqual(["", ""]);
    });

    test("a workflow runs once for a key, and its other handlers for every record", async () => {
      const [key, other] = [on.name(), on.name()];
      const runs = ["1", "2", "3"].map((value) => ({ key, value }));
      const topic = await on.topic([...runs, { key: other, value: "4" }]);
      await on.subscribe(topic, "Flow/run");
      expect((await on.sees(topic, 2)).map(textOf).toSorted()).toEqual(["1", "4"]);
      const shared = await on.topic(["5", "6"].map((value) => ({ key, value })));
      await on.subscribe(shared, "Flow/poke");
      expect((await on.sees(shared, 2)).map((one) => one.key)).toEqual([key, key]);
      expect(on.seen(topic)).toHaveLength(2);
    });

    test("a value that the handler cannot read fails that invocation alone", async () => {
      const topic = await on.topic(["{", JSON.stringify("good")]);
      const id = await on.subscribe(topic, "Plain/typed");
      const query = "SELECT status, completion_result, completion_failure FROM sys_invocation " +
        `WHERE invoked_by_subscription_id = '${id}' AND status = 'completed'`;
      await expect.poll(async () => (await on.sql(query)).length, { timeout: 20_000 }).toBe(2);
      const failed = (await on.sql(query)).filter((row) => row["completion_result"] === "failure");
      expect(failed).toMatchObject([{ completion_failure: expect.stringContaining("400") }]);
    });

    test("SQL shows who has invoked", async () => {
      const topic = await on.topic([{ key: "sql", value: "v" }]);
      const id = await on.subscribe(topic, "Box/take");
      await on.sees(topic, 1);
      const rows = await on.sql(
        "SELECT invoked_by, target, idempotency_key, invoked_by_service_name FROM sys_invocation " +
          `WHERE invoked_by_subscription_id = '${id}'`,
      );
      expect(rows).toMatchObject([{ invoked_by: "subscription", target: "Box/sql/take" }]);
      expect(rows[0]?.["idempotency_key"] ?? null).toBeNull();
    });
  });
}
