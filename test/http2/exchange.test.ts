import { expect, test } from "vitest";
import { errorCode, frameType } from "../../src/http2/protocol.ts";
import { latin1 } from "./_bytes.ts";
import {
  data,
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  goaway,
  head,
  OK,
  ping,
  reset,
  settings,
  settled,
  Stage,
  windowUpdate,
} from "./_peer.ts";

/** Numbers of settings. */
const INITIAL_WINDOW = 4, STREAMS_MAX = 3;

test("what one tick sends is one write", async () => {
  const [stage, one, two] = await Stage.ready(2);
  const before = stage.peer.writes;
  one!.exchange.write(latin1("a"));
  one!.exchange.write(latin1("b"));
  two!.exchange.write(latin1("c"));
  two!.exchange.end();
  stage.peer.send(ping());
  await settled();
  expect(stage.peer.writes).toBe(before + 1);
  expect([stage.peer.body(1), stage.peer.body(3)]).toEqual(["ab", "c"]);
});

test("a response is head, chunks and end, in this order, whenever the request ends", async () => {
  const [stage, talk] = await Stage.ready();
  stage.peer.send(head(1), data(1, "a"), data(1, ""), data(1, "b"), data(1, "", END_STREAM));
  expect(talk!.received).toEqual(["head 200", "a", "b", "end"]);
  talk!.exchange.end();
  talk!.exchange.end();
  await settled();
  const ends = stage.peer.of(frameType.data).filter(({ flags }) => flags === END_STREAM);
  expect([ends.length, stage.peer.isHeld, stage.client.load.streams]).toEqual([1, false, 0]);
});

test("a GET ends with its head, and a response may have no body", async () => {
  const stage = new Stage();
  const talk = stage.open("GET");
  stage.peer.accept();
  await settled();
  expect(stage.peer.of(frameType.headers)).toMatchObject([{ flags: END_STREAM | END_HEADERS }]);
  stage.peer.send(head(1, END_STREAM | END_HEADERS));
  expect(talk.received).toEqual(["head 200", "end"]);
});

test("long headers are continued", async () => {
  const stage = new Stage();
  stage.open("GET", { headers: { "x-a": "a".repeat(20_000), "x-b": "b".repeat(20_000) } });
  stage.peer.accept();
  await settled();
  const frames = stage.peer.frames.filter(({ type }) => type === 1 || type === 9);
  expect(frames.map(({ type, flags, payload }) => [type, flags, payload.length])).toEqual([
    [1, END_STREAM, 16_384],
    [9, 0, 16_384],
    [9, END_HEADERS, frames[2]!.payload.length],
  ]);
});

test("a continued head of a response is one head", async () => {
  const [stage, talk] = await Stage.ready();
  const block = [...OK, ...field("x-a", "1")];
  stage.peer.send(
    frame(1, END_STREAM, 1, block.slice(0, 3)),
    frame(9, 0, 1),
    frame(9, 0, 1, block.slice(3, 5)),
    frame(9, END_HEADERS, 1, block.slice(5)),
  );
  expect(talk!.received).toEqual(["head 200 1", "end"]);
});

test("padding and priority are skipped", async () => {
  const [stage, talk] = await Stage.ready();
  stage.peer.send(
    frame(1, END_HEADERS | 0x28, 1, [3, 0, 0, 0, 0, 9, ...OK, 0, 0, 0]),
    frame(2, 0, 1, [0, 0, 0, 0, 1]),
    frame(0, 0x8, 1, [2, ...latin1("ab"), 0, 0]),
    frame(0, 0x8, 1, [0, ...latin1("c")]),
    frame(0, 0x8 | END_STREAM, 1, [1, 0]),
  );
  expect(talk!.received).toEqual(["head 200", "ab", "c", "end"]);
});

test("informational heads and trailers are skipped, and so are unknown frames and flags", async () => {
  const [stage, talk] = await Stage.ready();
  stage.peer.send(
    head(1, END_HEADERS, [...field(":status", "103"), ...field("link", "x")]),
    head(1, END_HEADERS, [...field(":status", "100")]),
    frame(0xfa, 0xff, 1, [1, 2, 3]),
    frame(0xfa, 0xff, 99),
    head(1, END_HEADERS | 0xc0),
    data(1, "a"),
    head(1, END_STREAM | END_HEADERS, [...field("x-trailer", "1")]),
  );
  expect(talk!.received).toEqual(["head 200", "a", "end"]);
});

test("settings and pings are acknowledged, at any time", async () => {
  const [stage] = await Stage.ready();
  stage.peer.send(settings(), ping(), ping(1), frame(4, 1, 0));
  await settled();
  expect(stage.peer.of(frameType.settings).filter(({ flags }) => flags === 1)).toHaveLength(2);
  expect(stage.peer.of(frameType.ping)).toMatchObject([{ flags: 1 }]);
  expect([...stage.peer.of(frameType.ping)[0]!.payload]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("an aborted exchange is reset once, and what comes for it is ignored", async () => {
  const [stage, talk] = await Stage.ready(1, settings([INITIAL_WINDOW, 1]));
  talk!.exchange.write(latin1("ab"));
  talk!.exchange.abort();
  talk!.exchange.abort();
  talk!.exchange.end();
  expect(talk!.exchange.write(latin1("c"))).toBe(true);
  stage.peer.send(head(1), data(1, "a"), windowUpdate(1, 5), reset(1, 0));
  await settled();
  expect(stage.peer.of(frameType.rstStream).map(({ payload }) => [...payload]))
    .toEqual([[0, 0, 0, errorCode.cancel]]);
  expect([talk!.received, stage.peer.body(1)]).toEqual([[], "a"]);
});

test("streams that an endpoint has not taken are busy, the others go on", async () => {
  const [stage, one, two, three] = await Stage.ready(3);
  stage.peer.send(reset(5, errorCode.refusedStream), goaway(1, errorCode.noError, "bye"));
  expect(three!.received).toEqual(["busy: stream reset with code 7 (REFUSED_STREAM)"]);
  expect(two!.received)
    .toEqual(["busy: the endpoint closes the connection with code 0 (NO_ERROR): bye"]);
  const later = stage.open();
  expect(stage.peers).toHaveLength(2);
  stage.peer.send(head(1), data(1, "a", END_STREAM));
  one!.exchange.end();
  await settled();
  expect(one!.received).toEqual(["head 200", "a", "end"]);
  expect([stage.peer.isEnded, later.received]).toEqual([true, []]);
});

test("a stream that was reset before its response ended has failed, with what came", async () => {
  const [stage, one, two, three] = await Stage.ready(3);
  one!.exchange.pause();
  stage.peer.send(
    ...[head(1), data(1, "a"), reset(1, errorCode.refusedStream)],
    ...[reset(3, errorCode.enhanceYourCalm), reset(5, 99)],
  );
  expect(one!.received).toEqual(["head 200"]);
  one!.exchange.resume();
  await settled();
  expect(one!.received)
    .toEqual(["head 200", "a", "reset: stream reset with code 7 (REFUSED_STREAM)"]);
  expect([two!.received, three!.received]).toEqual([
    ["busy: stream reset with code 11 (ENHANCE_YOUR_CALM)"],
    ["reset: stream reset with code 99"],
  ]);
});

test("a response that is complete stays so when the rest of its request is refused", async () => {
  const [stage, talk] = await Stage.ready();
  stage.peer.send(head(1), data(1, "a", END_STREAM), reset(1, errorCode.noError));
  talk!.exchange.write(latin1("x"));
  stage.peer.listener.closed();
  expect(talk!.received).toEqual(["head 200", "a", "end"]);
});

test("the endpoint's limit of streams may change", async () => {
  const [stage, one] = await Stage.ready(3, settings([STREAMS_MAX, 1]));
  expect([stage.peers.length, stage.peer.of(frameType.headers).length]).toEqual([2, 1]);
  stage.peer.send(settings([STREAMS_MAX, 2]));
  await settled();
  expect(stage.peer.of(frameType.headers)).toHaveLength(2);
  stage.peer.send(settings([STREAMS_MAX, 0]));
  one!.exchange.abort();
  await settled();
  expect(stage.peer.of(frameType.headers)).toHaveLength(2);
});
