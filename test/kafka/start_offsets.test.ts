import { describe, expect } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { type Stage, stagedTest } from "./_stage.ts";

const jars = await brokerTools();
const test = stagedTest(jars);
const LATEST = { options: { "auto.offset.reset": "latest" } };

describe.skipIf(jars === undefined)("a start at the latest record", { concurrent: true }, () => {
  const topicOf = async ({ name, topics }: Stage) => {
    const topic = name();
    await topics.create(topic);
    await topics.send(topic, "before");
    return topic;
  };

  test("is where the subscription was created, and not where its sidecar starts", async ({ on }) => {
    const topic = await topicOf(on);
    on.server.subscribe("s", topic, LATEST);
    await on.topics.send(topic, "between");
    const sidecar = on.sidecar();
    await eventually("the record", () => on.server.texts("s").length > 0, sidecar);
    await on.topics.send(topic, "after");
    await eventually("the next", () => on.server.texts("s").length > 1, sidecar);
    expect(on.server.texts("s")).toEqual(["between", "after"]);
  });

  test("loses nothing of a partition that is added while no sidecar runs", async ({ on }) => {
    const topic = await topicOf(on);
    on.server.subscribe("s", topic, LATEST);
    const first = on.sidecar();
    await eventually("the state", () => on.server.report("s")?.state === "running", first);
    expect(await first.stop()).toBe(0);
    await on.topics.admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] });
    await on.topics.sendAnew(topic, { partition: 1, value: "new" });
    const second = on.sidecar();
    await eventually("the record", () => on.server.texts("s").length > 0, second);
    expect(on.server.texts("s")).toEqual(["new"]);
  });

  test("goes on with the oldest record that is left when others have expired", async ({ on }) => {
    const topic = await topicOf(on);
    on.server.subscribe("s", topic, LATEST);
    await on.topics.send(topic, "expired", "left");
    const [partition, groupId] = [0, `s-${topic}`];
    await on.topics.admin.setOffsets({ groupId, topic, partitions: [{ partition, offset: "1" }] });
    const partitions = [{ partition, offset: "2" }];
    await on.topics.admin.deleteTopicRecords({ topic, partitions });
    const sidecar = on.sidecar();
    await eventually("the record", () => on.server.texts("s").length > 0, sidecar);
    expect(on.server.texts("s")).toEqual(["left"]);
    const problem = () => on.server.report("s")?.lastError?.message ?? "";
    const isTold = () => problem().includes("has the offsets 2 to 3, and not 1");
    await eventually("the problem", isTold, sidecar);
  });
});
