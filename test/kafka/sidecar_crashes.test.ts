import { createServer, type Server, type Socket } from "node:net";
import { afterAll, describe, expect } from "vitest";
import { brokerTools } from "./broker/broker.ts";
import { eventually } from "./_sidecar.ts";
import { type Stage, stagedTest } from "./_stage.ts";

const jars = await brokerTools();
const test = stagedTest(jars);
const SESSION_MS = 3_000;
const peers: Server[] = [];
const sockets = new Set<Socket>();

/** Something that listens and is no broker. */
async function peer(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    answer(socket);
  });
  peers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

const memberOf = async (on: Stage, topic: string) =>
  (await on.topics.admin.describeGroups([`s-${topic}`])).groups[0]?.members[0]?.memberId;

describe.skipIf(jars === undefined)("when something ends", { concurrent: true }, () => {
  test("a server: the group stays, and records flow when it is back", async ({ on }) => {
    const topic = on.name();
    await on.topics.create(topic);
    on.server.subscribe("s", topic, { options: { "session.timeout.ms": String(SESSION_MS) } });
    const sidecar = on.sidecar();
    await on.topics.send(topic, "a");
    await eventually("the first", () => on.server.texts("s").length === 1, sidecar);
    const member = await memberOf(on, topic);
    await on.server.stop();
    await on.topics.send(topic, "b", "c");
    // Only heartbeats keep a member for longer than its session.
    const until = Date.now() + 2.5 * SESSION_MS;
    await eventually("the end of two sessions", () => Date.now() > until);
    expect(await memberOf(on, topic)).toBe(member);
    await on.server.start();
    await eventually("the rest", () => on.server.texts("s").length === 3, sidecar);
    expect(await memberOf(on, topic)).toBe(member);
    expect(on.server.texts("s")).toEqual(["a", "b", "c"]);
  });

  test("nothing, though the cluster asks for heartbeats that are rarer than the session", async ({ on }) => {
    const topic = on.name();
    await on.topics.create(topic);
    const rare = String(SESSION_MS + 1_000);
    on.server.cluster("k", {
      "bootstrap.servers": on.broker.address,
      "heartbeat.interval.ms": rare,
    });
    on.server.subscribe("s", topic, { options: { "session.timeout.ms": String(SESSION_MS) } });
    const sidecar = on.sidecar();
    await eventually("the state", () => on.server.report("s")?.state === "running", sidecar);
    const member = await memberOf(on, topic);
    const until = Date.now() + 2.5 * SESSION_MS;
    await eventually("the end of two sessions", async () => {
      expect(await memberOf(on, topic)).toBe(member);
      return Date.now() > until;
    });
  });

  test("a session, since the sidecar stood still: it joins its group anew", async ({ on }) => {
    const topic = on.name();
    await on.topics.create(topic);
    on.server.subscribe("s", topic, { options: { "session.timeout.ms": String(SESSION_MS) } });
    const sidecar = on.sidecar();
    await on.topics.send(topic, "a");
    await eventually("the first", () => on.server.texts("s").length === 1, sidecar);
    const member = await memberOf(on, topic);
    sidecar.child.signal("SIGSTOP");
    await eventually("the group", async () => await on.topics.state(`s-${topic}`) === "Empty");
    sidecar.child.signal("SIGCONT");
    await on.topics.send(topic, "b");
    await eventually("the next", () => on.server.texts("s").length === 2, sidecar);
    expect(on.server.texts("s")).toEqual(["a", "b"]);
    expect(await memberOf(on, topic)).not.toBe(member);
  });

  test("a sidecar by kill -9: the next one asks the server, and goes on where that is", async ({ on }) => {
    const topic = on.name();
    await on.topics.create(topic);
    const options = { "session.timeout.ms": "1000", "auto.commit.interval.ms": "600000" };
    on.server.subscribe("s", topic, { options });
    const first = on.sidecar();
    await on.topics.send(topic, "a", "b");
    await eventually("the first", () => on.server.texts("s").length === 2, first);
    await first.stop("SIGKILL");
    await on.topics.send(topic, "c");
    const second = on.sidecar();
    await eventually("the rest", () => on.server.texts("s").length === 3, second);
    expect(on.server.texts("s")).toEqual(["a", "b", "c"]);
    // The offsets were not committed, so that the first ones have been read twice, and sent once.
    const asked = on.server.batches.findLastIndex(({ next, records }) =>
      next === 0 && records.length === 0
    );
    expect(asked).toBeGreaterThan(0);
    const since = on.server.batches.slice(asked).flatMap(({ records }) => records);
    expect(since.map(({ offset }) => offset)).toEqual([2]);
  });

  test("the server of a child: it ends after a while without an answer", async ({ on }) => {
    const sidecar = on.sidecar({ args: ["--until-orphaned=3000"] });
    await eventually("a report", () => on.server.reports.length > 0, sidecar);
    await on.server.stop();
    expect(await sidecar.child.ended()).toBe(0);
    await on.server.start();
  });

  test("a wrong token is an error in the log, once", async ({ on }) => {
    const sidecar = on.sidecar({ token: "another-token-of-tests" });
    await eventually("the log", () => sidecar.logs("There is no plan").length > 0, sidecar);
    expect(sidecar.logs("There is no plan")).toMatchObject([
      { level: "warn", cause: "The server answers 401: no" },
    ]);
    expect(sidecar.child.output()).not.toContain("another-token");
  });
});

describe.skipIf(jars === undefined)("what is no broker", { concurrent: true }, () => {
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of peers.splice(0)) server.close();
  });

  test.for<readonly [string, (socket: Socket) => void]>([
    ["speaks HTTP", (socket) => socket.on("data", () => socket.write("HTTP/1.1 400 Bad\r\n\r\n"))],
    [
      "announces less than nothing",
      (socket) => socket.on("data", () => socket.write(Buffer.from([255, 255, 255, 252]))),
    ],
    ["answers nonsense", (socket) =>
      socket.on("data", (asked) => {
        const answer = Buffer.alloc(40, 7);
        answer.writeInt32BE(36);
        // The id of the request, which is what an answer begins with.
        asked.copy(answer, 4, 8, 12);
        socket.write(answer);
      })],
    ["answers with an error for every version", (socket) =>
      socket.on("data", (asked) => {
        const answer = Buffer.alloc(14);
        answer.writeInt32BE(10);
        asked.copy(answer, 4, 8, 12);
        answer.writeInt16BE(35, 8);
        socket.write(answer);
      })],
    ["says nothing", () => {}],
    ["drops connections", (socket) => socket.destroy()],
    ["drops connections that ask something", (socket) => socket.on("data", () => socket.end())],
  ])("and %s is a state and an error, and disturbs no other", async ([_, answer], { on }) => {
    const topic = on.name();
    await on.topics.create(topic);
    await on.topics.send(topic, "v");
    const brief = { "socket.timeout.ms": "1000", "fetch.wait.max.ms": "500" };
    on.server.cluster("odd", { "bootstrap.servers": await peer(answer), ...brief });
    on.server.subscribe("s", topic, { source: `kafka://odd/${topic}` });
    on.server.subscribe("other", topic);
    const sidecar = on.sidecar();
    await eventually("the other", () => on.server.texts("other").length === 1, sidecar);
    await eventually("the state", () => on.server.report("s")?.state === "failing", sidecar);
    expect(on.server.report("s")?.lastError?.message).toBeTruthy();
    on.server.cluster("odd", { "bootstrap.servers": on.broker.address });
    await eventually("the record", () => on.server.texts("s").length === 1, sidecar);
    expect(sidecar.child.isAlive()).toBe(true);
  });
});

/** The other tests need it: by itself. */
describe.skipIf(jars === undefined)("when the broker ends", () => {
  test("a broker: nothing is lost or doubled, and the same member comes back", async ({ on }) => {
    const topic = on.name();
    await on.topics.create(topic, 2);
    on.server.subscribe("s", topic);
    const sidecar = on.sidecar();
    const texts = Array.from({ length: 300 }, (_, n) => String(n));
    const send = (part: readonly string[]) =>
      on.topics.send(topic, ...part.map((value) => ({ partition: +value % 2, value })));
    await send(texts.slice(0, 200));
    await eventually("some", () => on.server.delivered.length > 0, sidecar);
    const member = await memberOf(on, topic);
    expect(member).toBeTruthy();
    await on.broker.stop("SIGKILL");
    await eventually("the state", () => on.server.report("s")?.state === "failing", sidecar);
    await on.broker.start();
    await send(texts.slice(200));
    await eventually("all records", () => on.server.delivered.length >= 300, sidecar);
    expect(on.server.texts("s").toSorted((a, b) => +a - +b)).toEqual(texts);
    await eventually("the state", () => on.server.report("s")?.state === "running", sidecar);
    expect(await memberOf(on, topic)).toBe(member);
  });
});
