import { gzipSync } from "node:zlib";
import kafkajs from "kafkajs";
import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { stage } from "./_stage.ts";

const jars = await brokerTools();

describe.skipIf(jars === undefined)("records of any form", () => {
  const on = stage(jars);

  test.each(["gzip", "snappy", "lz4", "zstd"])("come from batches packed by %s", async (codec) => {
    const topic = on.name();
    // The broker packs them anew, as a Java client does.
    await on.topics.create(topic, 1, { "compression.type": codec });
    const texts = Array.from({ length: 500 }, (_, n) => `${n} ${"repeats ".repeat(n % 50)}`);
    await on.topics.send(topic, ...texts);
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    await eventually("all records", () => on.server.delivered.length >= 500, sidecar);
    expect(on.server.texts("s")).toEqual(texts);
  });

  test("come from committed transactions only, and markers leave no lag", async () => {
    const topic = on.name();
    await on.topics.create(topic);
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
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    const [partition] = await on.topics.admin.fetchTopicOffsets(topic);
    const end = Number(partition?.high);
    await eventually(
      "the end",
      () => on.server.report("s")?.partitions[0]?.position === end,
      sidecar,
    );
    expect(end).toBe(6);
    expect(on.server.texts("s")).toEqual(["b"]);
  });

  test("come with 3 MB as well, and with the records around them", async () => {
    const topic = on.name();
    await on.topics.create(topic, 1, { "max.message.bytes": "4000000" });
    const large = gzipSync("x").toString("hex").padEnd(3_000_000, "y");
    await on.topics.send(topic, "before", large, "after");
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    await eventually("all records", () => on.server.delivered.length >= 3, sidecar);
    expect(on.server.texts("s")).toEqual(["before", large, "after"]);
  });

  test("have headers of any name", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    const names = ["toString", "constructor", "__proto__", "x"];
    const headers = Object.fromEntries(names.map((name) => [name, `of ${name}`]));
    await on.topics.send(topic, { value: "v", headers });
    on.server.subscribe("s", topic, { options: { "headers.prefix": "r-" } });
    const sidecar = on.sidecar();
    await eventually("the record", () => on.server.delivered.length === 1, sidecar);
    expect(on.server.delivered[0]?.headers)
      .toEqual(names.map((name) => [`r-${name.toLowerCase()}`, `of ${name}`]));
  });

  test("are mapped by the options of their subscription, also when these change", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    const options = { "key.encoding": "hex", "headers.prefix": "x-", "filter": "header:k=1" };
    on.server.subscribe("s", topic, { options });
    const sidecar = on.sidecar();
    await on.topics.send(
      topic,
      { key: Buffer.from([250, 1]), value: null, headers: { k: ["0", "1"], b: "é" } },
      { value: "left out", headers: { k: "2" } },
    );
    await eventually(
      "the end",
      () => on.server.report("s")?.partitions[0]?.position === 2,
      sidecar,
    );
    expect(on.server.delivered).toMatchObject([{
      objectKey: "fa01",
      value: undefined,
      headers: [["svc.tombstone", "true"], ["x-k", "0"], ["x-k", "1"], ["x-b", "é"]],
    }]);

    const reports = on.server.reports.length;
    on.server.subscribe("s", topic, { options: { "filter": "header:k=2" } });
    await eventually("the new options", async () => {
      await on.topics.send(topic, { value: "now in", headers: { k: "2" } });
      return on.server.delivered.length > 1;
    }, sidecar);
    expect(on.server.delivered.at(-1)).toMatchObject({ text: "now in", objectKey: undefined });
    const last = on.server.delivered.at(-1)?.offset ?? 0;
    await eventually(
      "a report",
      () => (on.server.report("s")?.partitions[0]?.position ?? 0) > last,
      sidecar,
    );
    // The consumer has stayed in its group.
    const states = on.server.reports.slice(reports).flatMap(({ subscriptions }) => subscriptions);
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(["running"]));
  });
});
