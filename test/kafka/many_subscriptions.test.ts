import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { TOKEN } from "./_fake_server.ts";
import { Facts, textOf } from "./_facts.ts";
import { SidecarProcess } from "./_sidecar.ts";

const jars = await brokerTools();
const SUBSCRIPTIONS = 40;

describe.skipIf(jars === undefined)(`${SUBSCRIPTIONS} subscriptions`, () => {
  const on = new Facts("perdure");
  beforeAll(() => on.start(jars!), 120_000);
  afterAll(() => on.close());

  test("all flow again after kill -9 of the server, and after that of the sidecar", async () => {
    const topics = Array.from({ length: SUBSCRIPTIONS }, () => on.name());
    await on.topics.admin.createTopics({
      waitForLeaders: false,
      topics: topics.map((topic) => ({ topic, numPartitions: 1 })),
    });
    for (const topic of topics) {
      await on.subscribe(topic, "Plain/take", { options: { "session.timeout.ms": "3000" } });
    }
    await on.topics.producer.connect();
    const send = (value: string) =>
      on.topics.producer.sendBatch({
        topicMessages: topics.map((topic) => ({ topic, messages: [{ value }] })),
      });
    const flow = async (count: number) => {
      for (const topic of topics) await on.sees(topic, count);
    };
    await send("a");
    await flow(1);
    await on.target.stop("SIGKILL");
    await send("b");
    await on.target.start();
    await flow(2);
    await on.sidecar?.stop("SIGKILL");
    await send("c");
    on.sidecar = new SidecarProcess({ url: on.target.admin, token: TOKEN });
    await flow(3);
    for (const topic of topics) {
      expect((await on.sees(topic, 3)).map(textOf).toSorted()).toEqual(["a", "b", "c"]);
    }
  }, 120_000);
});
