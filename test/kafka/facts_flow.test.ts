import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { type Facts, facts, LONG_KINDS, type Seen, textOf } from "./_facts.ts";
import { eventually } from "./_sidecar.ts";

const jars = await brokerTools();
const QUICK_COMMIT = { "auto.commit.interval.ms": "200" };
const done = (seen: readonly Seen[]) =>
  seen.filter(({ handler }) => handler === "done").map(textOf);

/** Waits until a group has committed this offset of the only partition. */
const committed = (on: Facts, group: string, topic: string, offset: number) =>
  eventually(
    `offset ${offset}`,
    async () => (await on.topics.committed(group, topic)).join() === String(offset),
  );

for (const kind of LONG_KINDS) {
  describe.skipIf(jars === undefined)(`handlers that fail behind ${kind}`, () => {
    const on = facts(jars, kind);

    test("a failing call of a service is passed by all others of its partition", async () => {
      const held = `held-${on.name()}`;
      const topic = await on.topic([held, "a", "b"]);
      await on.subscribe(topic, "Plain/fail");
      await eventually("the others", () => done(on.seen(topic)).length === 2);
      expect(done(on.seen(topic)).toSorted()).toEqual(["a", "b"]);
      on.endpoint.release(held);
      await eventually("all", () => done(on.seen(topic)).length === 3);
    });

    test("the next record of a key runs when an operator has killed the one that fails", async () => {
      const topic = await on.topic([{ key: "k", value: "held for good" }, {
        key: "k",
        value: "b",
      }]);
      const id = await on.subscribe(topic, "Box/fail");
      await eventually("a second attempt", () => on.seen(topic).length > 1);
      expect(done(on.seen(topic))).toEqual([]);
      const [failing] = on.seen(topic);
      await on.admin("PATCH", `invocations/${failing?.id}/kill`);
      await eventually("the next", () => done(on.seen(topic)).join() === "b");
      const rows = await on.sql(
        `SELECT id FROM sys_invocation WHERE invoked_by_subscription_id = '${id}'
          AND status = 'completed' AND completion_result = 'failure'`,
      );
      expect(rows).toEqual([{ id: failing?.id }]);
    });

    test("records are consumed while the endpoint is down, and run when it is back", async () => {
      const topic = await on.topic();
      const id = await on.subscribe(topic, "Box/take", { options: QUICK_COMMIT });
      await on.topics.send(topic, { key: "k", value: "0" });
      await on.sees(topic, 1);
      await on.endpoint.stop();
      const values = ["1", "2", "3", "4", "5"];
      await on.topics.send(topic, ...values.map((value) => ({ key: `k${value}`, value })));
      await committed(on, id, topic, 6);
      expect(on.seen(topic)).toHaveLength(1);
      await on.endpoint.start();
      expect((await on.sees(topic, 6)).slice(1).map(textOf).toSorted()).toEqual(values);
    });
  });

  describe.skipIf(jars === undefined)(`clusters and groups on ${kind}`, () => {
    const on = facts(jars, kind);

    async function cluster(): Promise<string> {
      const name = on.name();
      const properties = { "bootstrap.servers": on.broker.address };
      await on.admin("POST", "kafka-clusters", { name, properties });
      return name;
    }

    test("a cluster that is deleted stops its subscriptions, and made again they go on", async () => {
      const name = await cluster();
      const topic = await on.topic(["a"]);
      const id = await on.subscribe(topic, "Plain/take", { cluster: name });
      await on.sees(topic, 1);
      await on.admin("DELETE", `kafka-clusters/${name}?force=true`);
      await eventually("the group to be empty", async () => await on.topics.state(id) === "Empty");
      await on.topics.send(topic, "b", "c");
      expect((await on.admin("GET", `subscriptions/${id}`)).id).toBe(id);
      const properties = { "bootstrap.servers": on.broker.address };
      await on.admin("POST", "kafka-clusters", { name, properties });
      expect((await on.sees(topic, 3)).map(textOf).toSorted()).toEqual(["a", "b", "c"]);
    });

    test("a cluster that changes in full swing loses no record, and doubles none", async () => {
      const name = await cluster();
      const topic = await on.topic();
      await on.subscribe(topic, "Box/take", { cluster: name });
      const values = Array.from({ length: 300 }, (_, n) => `${n}`);
      for (let n = 0; n < values.length; n += 50) {
        const part = values.slice(n, n + 50).map((value) => ({ key: `k${+value % 7}`, value }));
        await on.topics.send(topic, ...part);
        await on.sees(topic, n + 1);
        const properties = { "bootstrap.servers": on.broker.address, "client.id": `c${n}` };
        await on.admin("PATCH", `kafka-clusters/${name}`, { properties });
      }
      await on.sees(topic, values.length);
      const ids = new Map(on.seen(topic).map((one) => [one.id, textOf(one)]));
      expect([...ids.values()].toSorted((a, b) => +a - +b)).toEqual(values);
    });

    test("a group without an offset begins at the end, if nothing else is said", async () => {
      const topic = await on.topic(["old"]);
      const { id } = await on.admin("POST", "subscriptions", {
        source: `kafka://k/${topic}`,
        sink: "service://Plain/take",
      });
      await eventually("the group", async () => await on.topics.state(id) === "Stable");
      // It looks up the end only after it has joined.
      await eventually("a new one", async () => {
        await on.topics.send(topic, "new");
        return on.seen(topic).length > 0;
      });
      expect(new Set(on.seen(topic).map(textOf))).toEqual(new Set(["new"]));
    });

    test("a subscription without a group of a name begins anew", async () => {
      const topic = await on.topic(["v"]);
      const first = await on.subscribe(topic, "Plain/take");
      await on.sees(topic, 1);
      await on.admin("DELETE", `subscriptions/${first}`);
      await on.subscribe(topic, "Plain/take");
      await on.sees(topic, 2);
    });

    test("a group whose offset has expired goes on where auto.offset.reset says", async () => {
      const topic = await on.topic(["a", "b", "c"]);
      const groupId = `g-${topic}`;
      const at = (offset: string) => [{ partition: 0, offset }];
      await on.topics.admin.setOffsets({ groupId, topic, partitions: at("0") });
      await on.topics.admin.deleteTopicRecords({ topic, partitions: at("1") });
      await on.subscribe(topic, "Plain/take", { options: { "group.id": groupId } });
      expect((await on.sees(topic, 2)).map(textOf).toSorted()).toEqual(["b", "c"]);
    });
  });

  describe.skipIf(jars === undefined)(`${kind} is ended in order, and started again`, () => {
    const on = facts(jars, kind);

    test("it commits, leaves its group, and drops records that come again", async () => {
      const topic = await on.topic(["a", "b"].map((value) => ({ key: "k", value })));
      const id = await on.subscribe(topic, "Box/take");
      await on.sees(topic, 2);
      await on.rest();
      await committed(on, id, topic, 2);
      expect(await on.topics.state(id)).toBe("Empty");
      const partitions = [{ partition: 0, offset: "0" }];
      await on.topics.admin.setOffsets({ groupId: id, topic, partitions });
      await on.topics.send(topic, { key: "k", value: "c" });
      await on.resume();
      await eventually("the new one", () => on.seen(topic).some((one) => textOf(one) === "c"));
      expect(on.seen(topic).map(textOf)).toEqual(["a", "b", "c"]);
    });

    test("it comes up without a broker, and consumes when that is there", async () => {
      const topic = await on.topic(["a"]);
      await on.subscribe(topic, "Plain/take");
      await on.sees(topic, 1);
      await on.rest();
      await on.broker.stop("SIGKILL");
      await on.resume();
      await on.broker.start();
      await on.topics.send(topic, "b");
      expect((await on.sees(topic, 2)).map(textOf)).toEqual(["a", "b"]);
    });
  });
}
