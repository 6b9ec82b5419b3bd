import { afterAll, beforeAll, describe, expect } from "vitest";
import { type Broker, brokerTools, startBroker } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { stagedTest } from "./_stage.ts";
import { Topics } from "./_topics.ts";

const jars = await brokerTools();
/** Begins to start before the other one. */
let starting: Promise<Broker>;
if (jars !== undefined) beforeAll(() => void (starting = startBroker(jars)));
const test = stagedTest(jars);
const OFFSETS = "__consumer_offsets";
const IS_TOPIC = 2;

/** What the broker keeps of groups may be so large. Members go on as they are. */
async function limitOffsets(topics: Topics, bytes: number): Promise<void> {
  const configEntries = [{ name: "max.message.bytes", value: String(bytes) }];
  const resources = [{ type: IS_TOPIC, name: OFFSETS, configEntries }];
  await topics.admin.alterConfigs({ validateOnly: false, resources });
}

describe.skipIf(jars === undefined)("a broker", () => {
  let odd: Broker, oddTopics: Topics;
  beforeAll(async () => {
    odd = await starting;
    oddTopics = new Topics(odd.client());
  }, 120_000);
  afterAll(async () => {
    odd?.signal("SIGCONT");
    await oddTopics?.close();
    await odd?.close();
  });

  test("that keeps no offsets is an error that is logged once, and stops no records", async ({ on }) => {
    const topic = on.name();
    await oddTopics.create(topic);
    on.server.cluster("odd", { "bootstrap.servers": odd.address });
    const options = { "auto.commit.interval.ms": "100" };
    on.server.subscribe("s", topic, { source: `kafka://odd/${topic}`, options });
    const sidecar = on.sidecar();
    await oddTopics.send(topic, "a");
    // It may look for its coordinator still.
    const committed = async () =>
      (await oddTopics.committed(`s-${topic}`, topic).catch(() => [])).at(0);
    await eventually("the offset", async () => await committed() === 1, sidecar);
    await limitOffsets(oddTopics, 10);
    await oddTopics.send(topic, "b");
    const failures = () =>
      on.server.reports.flatMap(({ subscriptions }) => subscriptions)
        .reduce((sum, { commitFailures = 0 }) => sum + commitFailures, 0);
    await eventually("some failures", () => failures() > 2, sidecar);
    await oddTopics.send(topic, "c");
    await eventually("all records", () => on.server.texts("s").length === 3, sidecar);
    expect(on.server.report("s")).toMatchObject({
      state: "running",
      lastError: { message: expect.stringMatching(/^Offsets cannot be committed to the broker: /) },
    });
    expect(sidecar.logs("A subscription has a problem")).toHaveLength(1);
    expect(await committed()).toBe(1);
    await limitOffsets(oddTopics, 1_000_000);
    await eventually("the offset", async () => await committed() === 3, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b", "c"]);
  });

  test("that is silent delays no end of its subscriptions, and disturbs no other", async ({ on }) => {
    const [topic, other] = [on.name(), on.name()];
    await Promise.all([oddTopics.create(topic), on.topics.create(other)]);
    on.server.cluster("odd", { "bootstrap.servers": odd.address });
    const source = `kafka://odd/${topic}`;
    const ids = ["consuming", "paused", "leaving"] as const;
    for (const id of ids) on.server.subscribe(id, topic, { source });
    on.server.subscribe("paused", topic, { source, paused: true });
    on.server.subscribe("other", other);
    // It is not to end because it must.
    const sidecar = on.sidecar({ args: ["--shutdown-timeout=600000"] });
    await oddTopics.send(topic, "a");
    await eventually("records", () => on.server.delivered.length === 2, sidecar);
    await eventually("the state", () => on.server.report("paused")?.state === "paused", sidecar);

    await eventually("the state", () => on.server.report("other")?.state === "running", sidecar);
    // A broker that has just started may have said that it does not coordinate the group yet.
    const before = on.server.report("other")?.lastError;

    odd.signal("SIGSTOP");
    on.server.subscribe("starting", topic, { source });
    on.server.subscribe("leaving", topic, { source, isLeaving: true });
    const kept = () => on.server.reports.at(-1)?.groupsKept;
    await eventually("the report", () => kept() !== undefined, sidecar);
    expect(kept()).toEqual([{
      id: "leaving",
      message: expect.stringContaining("took longer than"),
    }]);
    for (const id of ["consuming", "paused", "starting"]) on.server.unsubscribe(id);
    await on.topics.send(other, "b");
    await eventually("the other", () => on.server.texts("other").length === 1, sidecar);
    expect(await sidecar.stop("SIGTERM")).toBe(0);
    expect(on.server.report("other")?.lastError).toEqual(before);
    expect(sidecar.logs("The Kafka client threw into the event loop")).toEqual([]);
  });
});
