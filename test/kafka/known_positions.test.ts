import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { facts, textOf } from "./_facts.ts";
import { eventually, SidecarProcess } from "./_sidecar.ts";

const jars = await brokerTools();
/** Nothing is committed to the broker before the sidecar is killed, which is noticed soon. */
const UNCOMMITTED = {
  "auto.commit.interval.ms": "600000",
  "session.timeout.ms": "2000",
  "heartbeat.interval.ms": "500",
};
const TEST_MS = 60_000;

describe.skipIf(jars === undefined)("what the server knows of a partition decides first", () => {
  const on = facts(jars, "perdure");
  const state = async (id: string) => await on.admin("GET", `subscriptions/${id}`);

  /** The sidecar forgets all, and another one begins. */
  async function replaceSidecar(): Promise<void> {
    await on.sidecar?.stop("SIGKILL");
    on.sidecar = new SidecarProcess({ url: on.target.admin });
  }

  test(
    "a topic made anew blocks its partition, says what to do, and is read by another one",
    async () => {
      const topic = await on.topic(["a", "b", "c"].map((value) => ({ key: "k", value })));
      const id = await on.subscribe(topic, "Box/take");
      await on.sees(topic, 3);
      await on.topics.admin.deleteTopics({ topics: [topic] });
      await eventually("the state", async () => (await state(id)).state === "failing");
      await on.topics.create(topic);
      await on.topics.send(topic, { key: "k", value: "d" });
      await eventually("the stop", async () => (await state(id)).state === "blocked");
      const { last_error } = await state(id);
      expect(last_error.message).toContain("ends at 1, and was read up to 3 before");
      expect(last_error.message).toContain("Delete this subscription and make another one");
      await on.admin("DELETE", `subscriptions/${id}`);
      await on.subscribe(topic, "Box/take");
      expect((await on.sees(topic, 4)).map(textOf)).toEqual(["a", "b", "c", "d"]);
    },
    TEST_MS,
  );

  test("records that were taken are no poison by the options of today", async () => {
    const [topic, dead] = [await on.topic(), await on.topic()];
    const rule = { "on.poison": `dead-letter:${dead}` };
    const id = await on.subscribe(topic, "Box/take", { options: { ...UNCOMMITTED, ...rule } });
    for (const value of ["1", "2", "3"]) {
      await on.topics.send(topic, { key: value, value });
      await on.sees(topic, Number(value));
    }
    await on.sidecar?.stop("SIGKILL");
    await on.admin("PATCH", `subscriptions/${id}`, {
      options: { ...UNCOMMITTED, ...rule, "key.encoding": "json:/id" },
    });
    await on.topics.send(topic, { value: '{"id":"x"}' }, { value: "no json" });
    await replaceSidecar();
    expect((await on.sees(topic, 4)).at(-1)).toMatchObject({ key: "x" });
    expect((await on.topics.read(dead, 1)).map(({ value }) => `${value}`)).toEqual(["no json"]);
  }, TEST_MS);

  test("a record in the dead letter topic neither goes there again nor runs later", async () => {
    const [topic, dead] = [await on.topic(), await on.topic()];
    const options = {
      ...UNCOMMITTED,
      "on.poison": `dead-letter:${dead}`,
      "key.encoding": "json:/id",
    };
    const id = await on.subscribe(topic, "Box/take", { options });
    await on.topics.send(topic, { key: "k", value: "poison" });
    await on.topics.read(dead, 1);
    const position = async () => (await state(id)).partitions?.[0]?.position;
    await eventually("the position", async () => await position() === 1);
    await on.sidecar?.stop("SIGKILL");
    await on.admin("PATCH", `subscriptions/${id}`, {
      options: { ...options, "key.encoding": "utf8" },
    });
    await on.topics.send(topic, { key: "k", value: "later" });
    await replaceSidecar();
    await on.sees(topic, 1);
    expect(on.seen(topic).map(textOf)).toEqual(["later"]);
    const [end] = await on.topics.admin.fetchTopicOffsets(dead);
    expect(end?.high).toBe("1");
  }, TEST_MS);
});
