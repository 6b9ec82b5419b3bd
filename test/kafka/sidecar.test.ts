import { describe, expect, test } from "vitest";
import { BATCH_RECORDS_MAX } from "../../src/kafka/chunk.ts";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { stage } from "./_stage.ts";

const jars = await brokerTools();

describe.skipIf(jars === undefined)("a sidecar", () => {
  const on = stage(jars);

  test("delivers the records of each partition in order, commits and leaves the group", async () => {
    const topic = on.name();
    await on.topics.create(topic, 2);
    const numbers = Array.from({ length: 2500 }, (_, index) => index);
    await on.topics.send(
      topic,
      ...numbers.map((n) => ({ partition: n % 2, key: `k${n % 7}`, value: String(n) })),
    );
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    await eventually("all records", () => on.server.delivered.length >= 2500, sidecar);

    for (const partition of [0, 1]) {
      const ofPartition = on.server.delivered.filter((one) => one.partition === partition);
      expect(ofPartition.map(({ text }) => Number(text)))
        .toEqual(numbers.filter((n) => n % 2 === partition));
    }
    expect(on.server.batches.every(({ records }) => records.length <= BATCH_RECORDS_MAX)).toBe(
      true,
    );
    await eventually(
      "a report of the end",
      () => on.server.report("s")?.partitions.every(({ position }) => position === 1250) ?? false,
      sidecar,
    );
    // A broker that has just begun may have no coordinator of groups at first.
    await eventually("the state", () => on.server.report("s")?.state === "running", sidecar);
    expect(on.server.report("s")).toMatchObject({
      state: "running",
      partitions: [{ topic, position: 1250, end: 1250 }, { topic, position: 1250, end: 1250 }],
    });

    expect(await sidecar.stop()).toBe(0);
    expect(await on.topics.committed(`s-${topic}`, topic)).toEqual([1250, 1250]);
    expect(await on.topics.state(`s-${topic}`)).toBe("Empty");
  });

  test("a record that is written later comes at once", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    on.server.subscribe("later", topic, { options: { "auto.offset.reset": "latest" } });
    const sidecar = on.sidecar();
    await eventually("the group", () => on.server.report("later")?.state === "running", sidecar);
    await on.topics.send(topic, { key: Buffer.from([255]), value: "v", headers: { a: "b" } });
    await eventually("the record", () => on.server.delivered.length > 0, sidecar);
    expect(on.server.delivered).toMatchObject([{ offset: 0, text: "v", headers: [] }]);
    expect([...on.server.delivered[0]?.key ?? []]).toEqual([255]);
  });

  test("runs on Deno as well, and starts without a plan", async () => {
    const topic = on.name();
    await on.topics.create(topic, 1, { "compression.type": "zstd" });
    await on.topics.send(topic, "a", "b");
    await on.server.stop();
    const sidecar = on.sidecar({ runtime: "deno" });
    await eventually("the log", () => sidecar.logs("There is no plan").length > 0, sidecar);
    await on.server.start();
    on.server.subscribe("s", topic);
    await eventually("the records", () => on.server.texts("s").length === 2, sidecar);
    expect(await sidecar.stop()).toBe(0);
    expect(await on.topics.state(`s-${topic}`)).toBe("Empty");
  });
});
