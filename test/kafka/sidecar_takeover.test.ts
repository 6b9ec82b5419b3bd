import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { stage } from "./_stage.ts";

const jars = await brokerTools();
const PARTITIONS = 2;
const QUICK = { "session.timeout.ms": "1000", "auto.commit.interval.ms": "100" };

describe.skipIf(jars === undefined)("a partition that comes from another sidecar", () => {
  const on = stage(jars);

  /** Two sidecars that began with the subscription, and have a partition each. */
  async function shared(topic: string) {
    const options = { ...QUICK, "auto.offset.reset": "latest" };
    on.server.subscribe("s", topic, { options });
    const sidecars = [on.sidecar(), on.sidecar()] as const;
    const partitionsOf = () => {
      const last = new Map(on.server.reports.map((one) => [one.member, one.subscriptions[0]]));
      return [...last.values()].map((one) => one?.partitions.length);
    };
    await eventually("a partition for each", () => partitionsOf().join() === "1,1", sidecars[0]);
    return sidecars;
  }

  const send = (topic: string, ...texts: readonly string[]) =>
    on.topics.send(
      topic,
      ...texts.flatMap((value) =>
        Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, value }))
      ),
    );
  const committed = (topic: string, offset: number) =>
    eventually(
      "the offsets",
      async () => (await on.topics.committed(`s-${topic}`, topic)).every((one) => one === offset),
    );

  test("goes on at the offset of the group, though what came before has expired", async () => {
    const topic = on.name();
    await on.topics.create(topic, PARTITIONS);
    const [first, second] = await shared(topic);
    await send(topic, "a", "b");
    await eventually("the first", () => on.server.delivered.length === 4, first);
    await committed(topic, 2);
    const partitions = Array.from(
      { length: PARTITIONS },
      (_, n) => ({ partition: n, offset: "2" }),
    );
    await on.topics.admin.deleteTopicRecords({ topic, partitions });
    await second.stop("SIGKILL");
    // One of the partitions has no reader now, and its next one began when it was empty.
    await send(topic, "c");
    await eventually("all", () => on.server.delivered.length === 6, first);
    expect(on.server.delivered.slice(4).map(({ text }) => text)).toEqual(["c", "c"]);
    expect(on.server.report("s")?.lastError).toBeUndefined();
  });

  test("shows where the group is, before there is another record", async () => {
    const topic = on.name();
    await on.topics.create(topic, PARTITIONS);
    const partitions = Array.from(
      { length: PARTITIONS },
      (_, n) => ({ partition: n, offset: "0" }),
    );
    await on.topics.admin.setOffsets({ groupId: `s-${topic}`, topic, partitions });
    const [first, second] = await shared(topic);
    await send(topic, "a", "b", "c");
    await eventually("all", () => on.server.delivered.length === 6, first);
    await committed(topic, 3);
    await second.stop("SIGKILL");
    const report = () =>
      on.server.report("s")?.partitions.map(({ position, end }) => [position, end]);
    await eventually("both", () => JSON.stringify(report()) === "[[3,3],[3,3]]", first);
    expect(on.server.delivered).toHaveLength(6);
    expect(await on.topics.committed(`s-${topic}`, topic)).toEqual([3, 3]);
  });
});
