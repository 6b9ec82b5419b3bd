import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Broker, brokerTools, startBroker } from "./broker/broker.ts";

const jars = await brokerTools();

describe.skipIf(jars === undefined)("the broker of tests", () => {
  let broker: Broker;
  beforeAll(async () => void (broker = await startBroker(jars!)), 90_000);
  afterAll(async () => broker?.close());

  test("keeps topics and records over kill -9", async () => {
    const kafka = broker.client();
    const [admin, producer] = [kafka.admin(), kafka.producer()];
    await admin.createTopics({ topics: [{ topic: "t", numPartitions: 2 }] });
    await producer.connect();
    await producer.send({ topic: "t", messages: [{ partition: 1, value: "one" }] });
    await Promise.all([admin.disconnect(), producer.disconnect()]);

    await broker.stop("SIGKILL");
    await broker.start();

    const offsets = await admin.fetchTopicOffsets("t");
    expect(offsets.map(({ partition, high }) => [partition, high]).sort()).toEqual([
      [0, "0"],
      [1, "1"],
    ]);
    await admin.disconnect();
  }, 90_000);
});
