import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, headerOf, textOf } from "./_facts.ts";
import { eventually } from "./_sidecar.ts";

const jars = await brokerTools();
const BAD = Buffer.from([255]);
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

/** What the reference has nothing for: server, sidecar and broker together. */
describe.skipIf(jars === undefined)("what an operator does with a subscription", () => {
  const on = facts(jars, "perdure");
  const shown = async (id: string) => await on.admin("GET", `subscriptions/${id}`);
  const isBlocked = (id: string) =>
    eventually("the stop", async () => (await shown(id)).state === "blocked");
  const badTopic = () =>
    on.topic([{ key: "k", value: "a" }, { key: BAD, value: "bad" }, { key: "k", value: "b" }]);

  test("skips the record that blocks", async () => {
    const topic = await badTopic();
    const id = await on.subscribe(topic, "Box/take");
    await isBlocked(id);
    expect((await shown(id)).partitions).toMatchObject([{
      ...{ topic, partition: 0, position: 1, end: 3, lag: 2 },
      stopped_by: { kind: "poison", message: expect.stringContaining("must be valid UTF-8") },
    }]);
    expect(await on.admin("POST", `subscriptions/${id}/skip`, {}))
      .toEqual({ topic, partition: 0, offset: 1 });
    expect((await on.sees(topic, 2)).map(textOf)).toEqual(["a", "b"]);
    await eventually("the state", async () => (await shown(id)).state === "running");
  });

  test("has bad records skipped, by a change of the option", async () => {
    const topic = await badTopic();
    const id = await on.subscribe(topic, "Box/take");
    await isBlocked(id);
    await on.admin("PATCH", `subscriptions/${id}`, { options: { "on.poison": "skip" } });
    expect((await on.sees(topic, 2)).map(textOf)).toEqual(["a", "b"]);
    expect((await shown(id)).id).toBe(id);
  });

  test("has bad keys encoded, by a change of the option", async () => {
    const topic = await badTopic();
    const id = await on.subscribe(topic, "Box/take");
    await isBlocked(id);
    await on.admin("PATCH", `subscriptions/${id}`, { options: { "key.encoding": "hex" } });
    const seen = await on.sees(topic, 3);
    expect(seen.map((one) => [textOf(one), one.key]).toSorted())
      .toEqual([["a", "k"], ["b", "6b"], ["bad", "ff"]]);
  });

  test("deletes it with its group, and hears what could not be done", async () => {
    const topic = await on.topic(["a"]);
    const id = await on.subscribe(topic, "Plain/take");
    await on.sees(topic, 1);
    expect(await on.admin("DELETE", `subscriptions/${id}?group=delete`))
      .toEqual({ group: id, is_deleted: true });
    expect(await on.topics.state(id)).toBe("Dead");
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    await on.admin("POST", "kafka-clusters", {
      name: "silent",
      properties: { "bootstrap.servers": `127.0.0.1:${port}` },
    });
    const other = await on.subscribe(topic, "Plain/take", { cluster: "silent" });
    expect(await on.admin("DELETE", `subscriptions/${other}?group=delete`)).toEqual({
      group: other,
      is_deleted: false,
      message: expect.stringMatching(/ is not, since .* took longer than 5000 ms\. Sidecars try/),
    });
    await on.admin("DELETE", "kafka-clusters/silent");
    silent.close();
  });

  test("pauses it, sees its lag, and resumes it", async () => {
    const topic = await on.topic(["a"]);
    const id = await on.subscribe(topic, "Plain/take");
    await on.sees(topic, 1);
    await on.admin("PATCH", `subscriptions/${id}`, { paused: true });
    await eventually("the group to be empty", async () => await on.topics.state(id) === "Empty");
    await on.topics.send(topic, "b");
    await eventually("the lag", async () => (await shown(id)).partitions[0]?.lag === 1);
    expect(await shown(id)).toMatchObject({ state: "paused", paused: true });
    expect(on.seen(topic)).toHaveLength(1);
    await on.admin("PATCH", `subscriptions/${id}`, { paused: false });
    await on.sees(topic, 2);
  });

  test("finds state and lag in SQL and among the metrics", async () => {
    const topic = await on.topic([{ key: "k", value: "a" }, { key: BAD, value: "bad" }]);
    const id = await on.subscribe(topic, "Box/take");
    await isBlocked(id);
    expect(
      await on.sql(
        "SELECT s.state, s.last_error, p.position, p.lag FROM sys_subscription s " +
          `JOIN sys_subscription_partition p ON p.subscription_id = s.id WHERE s.id = '${id}'`,
      ),
    ).toEqual([{
      ...{ state: "blocked", position: 1, lag: 1 },
      last_error: expect.stringContaining(`offset 1 of partition 0 of "${topic}"`),
    }]);
    const metrics = await (await fetch(`${on.target.admin}/metrics`)).text();
    const labels = `subscription="${id}",topic="${topic}",partition="0"`;
    expect(metrics).toContain(`perdure_kafka_lag{${labels}} 1\n`);
    expect(metrics).toContain(`perdure_kafka_ingress_requests_total{${labels}} 1\n`);
    expect(metrics).toContain(`_subscription_state{subscription="${id}",state="blocked"} 1\n`);
  });

  test("has headers passed on, others left out, and traces continued", async () => {
    const topic = await on.topic([
      { value: "out", headers: { kind: "other" } },
      {
        value: "in",
        headers: { kind: "order", traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
      },
    ]);
    const options = { "headers.prefix": "record-", "filter": "header:kind=order" };
    const id = await on.subscribe(topic, "Plain/take", { options });
    const seen = await on.sees(topic, 1);
    expect(seen.map(textOf)).toEqual(["in"]);
    expect(headerOf(seen[0]!, "record-kind")).toBe("order");
    expect(seen[0]?.trace).toMatch(new RegExp(`^00-${TRACE}-`));
    await eventually("the end", async () => (await shown(id)).partitions[0]?.position === 2);
    expect(on.seen(topic)).toHaveLength(1);
  });
});
