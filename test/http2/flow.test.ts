import { expect, test } from "vitest";
import { copyBytes } from "../../src/bytes.ts";
import { frameType } from "../../src/http2/protocol.ts";
import { latin1 } from "./_bytes.ts";
import { data, END_STREAM, head, settings, settled, Stage, windowUpdate } from "./_peer.ts";

const WINDOW = 65_535;
/** The number of the setting. */
const INITIAL_WINDOW = 4;
const STREAM_WINDOW = 2 * 1024 * 1024;

test("no more is sent than the windows of stream and connection allow", async () => {
  const [stage, one, two] = await Stage.ready(2, settings([INITIAL_WINDOW, 10]));
  expect(one!.exchange.write(latin1("a".repeat(15)))).toBe(false);
  one!.exchange.end();
  await settled();
  expect(stage.peer.body(1)).toBe("a".repeat(10));
  stage.peer.send(windowUpdate(1, 2));
  await settled();
  expect(stage.peer.body(1)).toBe("a".repeat(12));
  stage.peer.send(settings([INITIAL_WINDOW, 1_000_000]));
  expect(two!.exchange.write(new Uint8Array(WINDOW))).toBe(false);
  await settled();
  expect(stage.peer.body(1)).toBe("a".repeat(15));
  const last = stage.peer.of(frameType.data).findLast(({ stream }) => stream === 1);
  expect(last).toMatchObject({ flags: END_STREAM });
  expect(stage.peer.body(3)).toHaveLength(WINDOW - 15);
  stage.peer.send(windowUpdate(0, 100));
  await settled();
  expect(stage.peer.body(3)).toHaveLength(WINDOW);
  // Only the one whose request goes on can write more.
  expect([one!.received, two!.received]).toEqual([[], ["drain"]]);
});

test("windows that shrink may become negative", async () => {
  const [stage, talk] = await Stage.ready(1, settings([INITIAL_WINDOW, 100]));
  talk!.exchange.write(new Uint8Array(80));
  stage.peer.send(settings([INITIAL_WINDOW, 10]), windowUpdate(1, 70));
  talk!.exchange.write(latin1("b"));
  await settled();
  expect(stage.peer.body(1)).toHaveLength(80);
  stage.peer.send(windowUpdate(1, 1));
  await settled();
  expect(stage.peer.body(1)).toHaveLength(81);
});

test("the end of a request needs no window", async () => {
  const [stage, talk] = await Stage.ready(1, settings([INITIAL_WINDOW, 0]));
  talk!.exchange.end();
  await settled();
  expect(stage.peer.of(frameType.data)).toMatchObject([{ flags: END_STREAM }]);
});

test("streams that wait take turns, and wait while the connection is full", async () => {
  const [stage, one, two] = await Stage.ready(2, settings([INITIAL_WINDOW, 1_000_000]));
  stage.peer.hasRoom = false;
  stage.peer.send(windowUpdate(0, 1_000_000));
  one!.exchange.write(latin1("x"));
  await settled();
  for (const talk of [one!, two!]) {
    talk.exchange.write(new Uint8Array(100_000));
    talk.exchange.write(new Uint8Array(100_000));
  }
  await settled();
  expect(stage.peer.of(frameType.data)).toHaveLength(1);
  stage.peer.hasRoom = true;
  stage.peer.listener.drained();
  await settled();
  const order = stage.peer.of(frameType.data).slice(1, 13).map(({ stream }) => stream);
  expect(new Set(order)).toEqual(new Set([1, 3]));
  expect([stage.peer.body(1).length, stage.peer.body(3).length]).toEqual([200_001, 200_000]);
});

test("a paused response is held, its window is not renewed, and then it goes on", async () => {
  const [stage, talk, other] = await Stage.ready(2);
  talk!.exchange.pause();
  stage.peer.send(head(1), data(1, "a"));
  const piece = data(1, "x".repeat(16_384));
  for (let i = 0; i < STREAM_WINDOW / 16_384 - 1; i++) stage.peer.send(piece);
  stage.peer.send(data(1, "b", END_STREAM), head(3), data(3, "c"));
  await settled();
  expect([talk!.received, other!.received]).toEqual([["head 200"], ["head 200", "c"]]);
  const credits = () => stage.peer.of(frameType.windowUpdate).filter(({ stream }) => stream === 1);
  expect(credits()).toEqual([]);
  talk!.exchange.resume();
  // A listener that resumes does not expect to be called at once.
  expect(talk!.received).toEqual(["head 200"]);
  await settled();
  expect([talk!.received[1], talk!.received.at(-2), talk!.received.at(-1)]).toEqual([
    "a",
    "b",
    "end",
  ]);
});

test("a response that is read renews the windows of its stream and of the connection", async () => {
  const [stage] = await Stage.ready();
  stage.peer.send(head(1));
  const piece = data(1, "x".repeat(16_384));
  for (let i = 0; i < 1024; i++) stage.peer.listener.received(piece);
  await settled();
  const sum = (id: number) =>
    stage.peer.of(frameType.windowUpdate).filter(({ stream }) => stream === id)
      .reduce((all, { payload }) => all + new DataView(payload.buffer).getUint32(0), 0);
  // The first one of the connection enlarges it from its initial size.
  expect([sum(1), sum(0)]).toEqual([16_777_216, 16_777_216 + 16_777_216 - WINDOW]);
});

test("a listener may pause, resume and abort within its chunk", async () => {
  const stage = new Stage();
  const pausing = stage.open("POST", { onChunk: (exchange) => exchange.pause() });
  const aborting = stage.open("POST", { onChunk: (exchange) => exchange.abort() });
  stage.peer.accept();
  await settled();
  stage.peer.send(head(1), data(1, "a"), data(1, "b"), data(1, "c", END_STREAM));
  stage.peer.send(head(3), data(3, "a"), data(3, "b", END_STREAM));
  expect(pausing.received).toEqual(["head 200", "a"]);
  for (let i = 0; i < 3; i++) {
    pausing.exchange.resume();
    await settled();
  }
  expect(pausing.received).toEqual(["head 200", "a", "b", "c", "end"]);
  expect(aborting.received).toEqual(["head 200", "a"]);
  expect(stage.peer.of(frameType.rstStream)).toMatchObject([{ stream: 3 }]);
});

test("bytes are the listener's during the call only, also when they are held", async () => {
  const [stage, talk] = await Stage.ready();
  talk!.exchange.pause();
  const buffer = copyBytes(Uint8Array.from([...head(1), ...data(1, "abc", END_STREAM)]));
  stage.peer.listener.received(buffer);
  buffer.fill(0);
  talk!.exchange.resume();
  await settled();
  expect(talk!.received).toEqual(["head 200", "abc", "end"]);
});
