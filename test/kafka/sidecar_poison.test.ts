import { describe, expect, test } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { stage } from "./_stage.ts";

const jars = await brokerTools();
const BAD = "bad";

describe.skipIf(jars === undefined)("a record that cannot be delivered", () => {
  const on = stage(jars);
  const judgeBad = () =>
    void (on.server.judge = ({ text }) => text === BAD ? "no such handler" : undefined);
  const stoppedBy = () =>
    on.server.report("s")?.partitions.find(({ partition }) => partition === 0)?.stoppedBy;

  test("stops its partition alone, is shown, logged once, and goes on when it can", async () => {
    const topic = on.name();
    await on.topics.create(topic, 2);
    judgeBad();
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    await on.topics.send(topic, ...["a", BAD, "b"].map((value) => ({ partition: 0, value })));
    await eventually("the stop", () => stoppedBy() !== undefined, sidecar);
    expect(on.server.report("s")).toMatchObject({
      state: "blocked",
      lastError: { message: expect.stringContaining("offset 1 of partition 0") },
    });
    expect(stoppedBy()).toEqual({ kind: "poison", message: "no such handler" });
    await on.topics.send(topic, ...["c", "d"].map((value) => ({ partition: 1, value })));
    await eventually("the other partition", () => on.server.texts("s").includes("d"), sidecar);
    const tries = () => on.server.batches.filter(({ records }) => records[0]?.offset === 1).length;
    const before = tries();
    await eventually("more tries", () => tries() > before + 1, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "c", "d"]);
    expect(sidecar.logs("A subscription has a problem")).toHaveLength(1);

    on.server.judge = () => undefined;
    await eventually("the rest", () => on.server.delivered.length === 5, sidecar);
    expect(on.server.texts("s").slice(3)).toEqual([BAD, "b"]);
    await eventually("the state", () => on.server.report("s")?.state === "running", sidecar);
    expect(stoppedBy()).toBeUndefined();
  });

  test("is skipped by on.poison = skip, also when the option comes later", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    judgeBad();
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    await on.topics.send(topic, "a", BAD, "b", BAD);
    await eventually("the stop", () => stoppedBy() !== undefined, sidecar);
    on.server.subscribe("s", topic, { options: { "on.poison": "skip" } });
    await eventually(
      "the end",
      () => on.server.report("s")?.partitions[0]?.position === 4,
      sidecar,
    );
    expect(on.server.texts("s")).toEqual(["a", "b"]);
    expect(on.server.report("s")).toMatchObject({
      state: "running",
      lastError: { message: expect.stringContaining("skipped") },
    });
  });

  test("is passed over when an operator asks for it, whatever is wrong with it", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    const options = { "key.encoding": "header:id" };
    on.server.subscribe("s", topic, { options });
    const sidecar = on.sidecar();
    const headers = { id: "1" };
    await on.topics.send(topic, { value: "a", headers }, { value: BAD }, { value: "b", headers });
    await eventually("the stop", () => stoppedBy() !== undefined, sidecar);
    expect(stoppedBy()?.message).toContain('no header "id"');
    on.server.subscribe("s", topic, { options, skips: [{ topic, partition: 0, offset: 1 }] });
    await eventually("the rest", () => on.server.texts("s").length === 2, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b"]);
    // One with which nothing is wrong is passed over as well.
    on.server.subscribe("s", topic, { options, skips: [{ topic, partition: 0, offset: 3 }] });
    await eventually("the sidecar to know it", () => on.server.isKnown, sidecar);
    await on.topics.send(topic, { value: "c", headers }, { value: "d", headers });
    await eventually("the end", () => on.server.texts("s").length === 3, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b", "d"]);
  });

  test("is not found again after a crash when it was passed over", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    const options = {
      ...{ "key.encoding": "header:id", "auto.commit.interval.ms": "600000" },
      "session.timeout.ms": "1000",
    };
    const skips = [{ topic, partition: 0, offset: 0 }];
    on.server.subscribe("s", topic, { options, skips });
    await on.topics.send(topic, BAD);
    const first = on.sidecar();
    const position = () => on.server.report("s")?.partitions[0]?.position;
    await eventually("the position", () => position() === 1, first);
    await first.stop("SIGKILL");
    // The server forgets what is to be skipped once a sidecar is beyond it.
    on.server.subscribe("s", topic, { options });
    on.server.reports.length = 0;
    const second = on.sidecar();
    await eventually("the position", () => position() === 1, second);
    expect(stoppedBy()).toBeUndefined();
  });

  test("goes to the dead letter topic unchanged, with headers that say why", async () => {
    const [topic, dead] = [on.name(), on.name()];
    await on.topics.create(topic);
    judgeBad();
    on.server.subscribe("s", topic, { options: { "on.poison": `dead-letter:${dead}` } });
    const sidecar = on.sidecar();
    const bad = {
      key: "k",
      value: BAD,
      headers: { a: "1", constructor: "c" },
      timestamp: "1700000000000",
    };
    await on.topics.send(topic, "a", bad, "b");
    // Without the topic it blocks.
    await eventually("the stop", () => stoppedBy() !== undefined, sidecar);
    expect(on.server.report("s")?.lastError?.message).toContain(`cannot be written to "${dead}"`);
    await on.topics.create(dead);
    await eventually("the rest", () => on.server.texts("s").length === 2, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b"]);

    const [letter] = await on.topics.read(dead, 1);
    // The client of this test, too, has what its object inherits before the value.
    const said = Object.entries(letter?.headers ?? {})
      .map(([name, text]) => [name, String([text].flat().at(-1))]);
    expect([String(letter?.key), String(letter?.value), letter?.timestamp])
      .toEqual(["k", BAD, bad.timestamp]);
    expect(Object.fromEntries(said)).toEqual({
      "a": "1",
      "constructor": "c",
      "svc.dead-letter.reason": "no such handler",
      "svc.dead-letter.subscription": "s",
      "svc.dead-letter.topic": topic,
      "svc.dead-letter.partition": "0",
      "svc.dead-letter.offset": "1",
      "svc.dead-letter.at": expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test("goes to a topic that the expression of its source would match, and is not read there", async () => {
    const name = on.name();
    const dead = `${name}.dead`;
    await on.topics.create(name);
    await on.topics.create(dead);
    judgeBad();
    const options = { "on.poison": `dead-letter:${dead}` };
    on.server.subscribe("s", `^${name}.*`, { options });
    const sidecar = on.sidecar();
    await on.topics.send(name, BAD, "a");
    await eventually("the next", () => on.server.texts("s").length === 1, sidecar);
    const topics = () => on.server.report("s")?.partitions.map(({ topic }) => topic).join();
    await eventually("its topic alone", () => topics() === name, sidecar);
    expect(await on.topics.read(dead, 1)).toHaveLength(1);
    // Without the option it is a topic as any other.
    on.server.judge = () => undefined;
    on.server.subscribe("s", `^${name}.*`);
    await eventually("the letter", () => on.server.texts("s").includes(BAD), sidecar);
  });

  test("is one that the server finds too large", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    on.server.bytesMax = 5_000_000;
    on.server.subscribe("s", topic, { options: { "on.poison": "skip" } });
    const sidecar = on.sidecar();
    await on.topics.send(topic, "a", "x".repeat(5_000_000), "b");
    await eventually("the rest", () => on.server.texts("s").length === 2, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b"]);
    await eventually(
      "the error",
      () => on.server.report("s")?.lastError?.message.includes("answers 413: too large") ?? false,
      sidecar,
    );
  });

  test("is none because a batch is too large for what is in between", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    on.server.bytesMax = 2_000;
    on.server.subscribe("s", topic, { options: { "on.poison": "skip" } });
    const values = Array.from({ length: 50 }, (_, n) => `${n}`.padStart(200, "0"));
    await on.topics.send(topic, ...values);
    const sidecar = on.sidecar();
    await eventually("all", () => on.server.texts("s").length === 50, sidecar);
    expect(on.server.texts("s")).toEqual(values);
    expect(on.server.report("s")?.lastError).toBeUndefined();
  });

  test("does not stop when the inbox is full: the partition waits, and others do not", async () => {
    const topic = on.name();
    await on.topics.create(topic);
    await on.topics.send(topic, "a", "b");
    on.server.isFull = (id) => id === "s" && on.server.texts("s").length === 1;
    on.server.subscribe("s", topic);
    on.server.subscribe("other", topic);
    const sidecar = on.sidecar();
    await eventually("the stop", () => stoppedBy() !== undefined, sidecar);
    expect(stoppedBy()?.kind).toBe("inbox");
    expect(on.server.report("s")?.state).toBe("running");
    await eventually("the other", () => on.server.texts("other").length === 2, sidecar);
    expect(on.server.texts("s")).toEqual(["a"]);
    on.server.isFull = () => false;
    await eventually("the rest", () => on.server.texts("s").length === 2, sidecar);
  });
});
