import { expect, test } from "vitest";
import { errorCode, frameType } from "../../src/http2/protocol.ts";
import {
  CONNECT_MS,
  data,
  END_STREAM,
  goaway,
  head,
  IDLE_MS,
  ping,
  PING_MS,
  PONG_MS,
  settled,
  Stage,
} from "./_peer.ts";

test("nothing but the preface and settings is sent before the endpoint's settings", async () => {
  const stage = new Stage();
  const talk = stage.open();
  talk.exchange.write(new Uint8Array(1));
  stage.peer.listener.opened();
  await settled();
  expect(stage.peer.frames.map(({ type }) => type))
    .toEqual([frameType.settings, frameType.windowUpdate]);
});

test("a connection that cannot be opened fails all that wait for it", () => {
  const stage = new Stage();
  const talks = [stage.open(), stage.open()];
  stage.peer.listener.closed(new Error("refused"));
  expect(talks.map(({ received }) => received))
    .toEqual([["unreachable: refused"], ["unreachable: refused"]]);
});

test("an endpoint that closes before its settings does not speak HTTP/2", () => {
  const stage = new Stage();
  const talk = stage.open();
  stage.peer.listener.opened();
  stage.peer.listener.closed();
  expect(talk.received).toEqual(["http1: the server does not speak HTTP/2"]);
});

test("an endpoint without settings is given up after the time to connect", () => {
  const stage = new Stage();
  const talk = stage.open();
  stage.peer.listener.opened();
  expect(stage.timers.fire(CONNECT_MS)).toBe(1);
  expect(talk.received).toEqual([`unreachable: no answer within ${CONNECT_MS} ms`]);
  expect(stage.peer.isDestroyed).toBe(true);
  stage.open();
  expect(stage.peers).toHaveLength(2);
});

test("one more connection is opened for each that is full, and the first one is used first", async () => {
  const stage = new Stage(2);
  const talks = Array.from({ length: 5 }, () => stage.open());
  for (const peer of stage.peers) peer.accept();
  await settled();
  const streams = () => stage.peers.map((peer) => peer.of(frameType.headers).length);
  expect(streams()).toEqual([2, 2, 1]);
  talks[0]!.exchange.abort();
  stage.open();
  await settled();
  expect([streams(), stage.client.load.streams]).toEqual([[3, 2, 1], 5]);
});

test("a connection without streams is closed after a while, and holds no process", async () => {
  const [stage, talk] = await Stage.ready();
  expect(stage.peer.isHeld).toBe(true);
  stage.peer.send(head(1, 5));
  talk!.exchange.end();
  await settled();
  expect(stage.peer.isHeld).toBe(false);
  stage.timers.fire(IDLE_MS);
  const again = stage.open();
  expect(stage.peer.isHeld).toBe(true);
  again.exchange.abort();
  stage.timers.fire(IDLE_MS);
  expect(stage.peer.isEnded).toBe(false);
  stage.timers.fire(IDLE_MS);
  await settled();
  expect([stage.peer.isEnded, stage.peer.of(frameType.goaway).length]).toEqual([true, 1]);
  stage.open();
  expect(stage.peers).toHaveLength(2);
});

test("a connection with streams is probed, and closed when there is no answer", async () => {
  const [stage, talk] = await Stage.ready();
  stage.timers.fire(Math.min(PING_MS, IDLE_MS));
  await settled();
  expect(stage.peer.of(frameType.ping)).toMatchObject([{ flags: 0 }]);
  stage.peer.send(ping(1));
  expect(stage.timers.fire(PONG_MS)).toBe(0);
  stage.timers.fire(Math.min(PING_MS, IDLE_MS));
  await settled();
  expect(stage.timers.fire(PONG_MS)).toBe(1);
  expect(talk!.received).toEqual([`reset: no answer to a PING within ${PONG_MS} ms`]);
  expect(stage.peer.isDestroyed).toBe(true);
});

test("a broken connection fails its streams, with the reason", async () => {
  const [stage, one] = await Stage.ready();
  stage.peer.listener.closed(new Error("read ECONNRESET"));
  expect(one!.received).toEqual(["reset: read ECONNRESET"]);
  const two = stage.open();
  stage.peers[1]!.accept();
  await settled();
  stage.peers[1]!.send(goaway(1, errorCode.internalError, "out of \x07 memory"));
  stage.peers[1]!.listener.closed();
  const reason = "the endpoint closes the connection with code 2 (INTERNAL_ERROR): out of ? memory";
  expect(two.received).toEqual([`reset: ${reason}`]);
});

test("closing ends what waits and what runs", async () => {
  const [stage, running] = await Stage.ready();
  stage.client.close();
  const waiting = new Stage();
  const talk = waiting.open();
  waiting.client.close();
  for (const { received } of [running!, talk]) {
    expect(received).toEqual(["reset: this server is closing"]);
  }
  expect([stage.peer.isDestroyed, waiting.peer.isDestroyed]).toEqual([true, true]);
});

test("a header that HTTP/2 does not allow fails its own exchange only, later", async () => {
  const [stage, other] = await Stage.ready();
  const talk = stage.open("POST", { headers: { connection: "close" } });
  expect(talk.received).toEqual([]);
  await settled();
  expect(talk.received).toEqual([expect.stringMatching(/^unreachable: Cannot send .*connection/)]);
  stage.peer.send(head(1), data(1, "a", END_STREAM));
  expect(other!.received).toEqual(["head 200", "a", "end"]);
});
