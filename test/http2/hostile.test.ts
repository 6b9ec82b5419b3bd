import { expect, test } from "vitest";
import { errorCode, frameType } from "../../src/http2/protocol.ts";
import { latin1, textOf } from "./_bytes.ts";
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

const WINDOW_MAX = 0x7fff_ffff;
const TEXT = "x".repeat(16_384);
const repeated = (bytes: Uint8Array, times: number) => Array.from({ length: times }, () => bytes);
const block = (...fields: readonly (readonly [string, string])[]) => [
  ...OK,
  ...fields.flatMap(([name, value]) => [...field(name, value)]),
];
const headWith = (...fields: readonly (readonly [string, string])[]) =>
  head(1, END_HEADERS, block(...fields));
/** What it is called, the code that the endpoint is told, and what it sends. */
type Misbehavior = readonly [name: string, code: number, ...frames: Uint8Array[]];

const named = ([what, code, ...frames]: Misbehavior) => ({ what, code, frames });

const status = (text: string, flags = END_HEADERS) => head(1, flags, [...field(":status", text)]);

/** One byte each, and 60 bytes as HTTP/2 counts them. */
const MANY_HEADERS = new Uint8Array(1200).fill(0x90);

const { protocolError, frameSizeError, flowControlError, compressionError, enhanceYourCalm } =
  errorCode;

/** What ends the whole connection, and the code that the endpoint is told. */
const connectionErrors: readonly Misbehavior[] = [
  ["a frame of more than 16 KiB", frameSizeError, frame(0, 0, 1, new Uint8Array(16_385))],
  [
    "an unknown frame of more than 16 KiB",
    frameSizeError,
    frame(0x99, 0, 1, new Uint8Array(16_385)),
  ],
  ["DATA on no stream", protocolError, data(0, "a")],
  ["DATA on a stream that was never opened", protocolError, data(9, "a")],
  ["DATA on a stream of the server", protocolError, data(2, "a")],
  ["DATA with too much padding", protocolError, head(1), frame(0, 8, 1, [5, 1, 2, 3])],
  ["DATA that is padded and empty", frameSizeError, head(1), frame(0, 8, 1)],
  ["HEADERS on no stream", protocolError, head(0)],
  ["HEADERS on a stream that was never opened", protocolError, head(9)],
  ["HEADERS on a stream of the server", protocolError, head(2)],
  ["HEADERS with too much padding", protocolError, frame(1, 12, 1, [5, ...OK])],
  ["HEADERS that are padded and empty", frameSizeError, frame(1, 12, 1)],
  ["HEADERS without their priority", protocolError, frame(1, 0x24, 1, [0, 0, 0])],
  ["HEADERS that cannot be decoded", compressionError, head(1, END_HEADERS, [0xff])],
  ["DATA within a header block", protocolError, head(1, 0), data(1, "a")],
  ["PING within a header block", protocolError, head(1, 0), ping()],
  ["an unknown frame within a header block", protocolError, head(1, 0), frame(0x99, 0, 0)],
  ["HEADERS within a header block", protocolError, head(1, 0), head(1)],
  ["CONTINUATION of another stream", protocolError, head(1, 0), frame(9, 4, 3)],
  ["CONTINUATION of nothing", protocolError, frame(9, 4, 1)],
  ["CONTINUATION behind the end of a block", protocolError, head(1), frame(9, 4, 1)],
  ["CONTINUATION without end", enhanceYourCalm, head(1, 0), ...repeated(frame(9, 0, 1), 200)],
  [
    "CONTINUATION of too much",
    enhanceYourCalm,
    ...[head(1, 0), ...repeated(frame(9, 0, 1, new Uint8Array(16_384)), 5)],
  ],
  ["RST_STREAM of a wrong size", frameSizeError, frame(3, 0, 1, [0, 0, 0])],
  ["RST_STREAM on no stream", protocolError, reset(0, 0)],
  ["RST_STREAM on a stream that was never opened", protocolError, reset(99, 0)],
  ["PRIORITY on no stream", protocolError, frame(2, 0, 0, [0, 0, 0, 0, 0])],
  ["SETTINGS on a stream", protocolError, frame(4, 0, 1)],
  ["SETTINGS of a wrong size", frameSizeError, frame(4, 0, 0, [0, 1, 0, 0, 0])],
  ["an acknowledgement with settings", frameSizeError, frame(4, 1, 0, [0, 4, 0, 0, 0, 0])],
  ["ENABLE_PUSH", protocolError, settings([2, 1])],
  ["too large an INITIAL_WINDOW_SIZE", flowControlError, settings([4, 2 ** 31])],
  ["too small a MAX_FRAME_SIZE", protocolError, settings([5, 16_383])],
  ["too large a MAX_FRAME_SIZE", protocolError, settings([5, 2 ** 24])],
  ["PUSH_PROMISE", protocolError, frame(5, 4, 1, [0, 0, 0, 2, ...OK])],
  ["PING of a wrong size", frameSizeError, ping(0, [1, 2, 3])],
  ["PING on a stream", protocolError, frame(6, 0, 1, new Uint8Array(8))],
  ["GOAWAY on a stream", protocolError, frame(7, 0, 1, new Uint8Array(8))],
  ["GOAWAY of a wrong size", frameSizeError, frame(7, 0, 0, [0, 0, 0, 0])],
  ["WINDOW_UPDATE of a wrong size", frameSizeError, frame(8, 0, 0, [1])],
  ["WINDOW_UPDATE of nothing", protocolError, windowUpdate(0, 0)],
  ["WINDOW_UPDATE of too much", flowControlError, windowUpdate(0, WINDOW_MAX)],
  ["WINDOW_UPDATE on a stream that was never opened", protocolError, windowUpdate(99, 1)],
  ["HTTP/1.1", frameSizeError, latin1("HTTP/1.1 400 Bad Request\r\n\r\n")],
  [
    "a window of a stream that grows too large by settings",
    flowControlError,
    ...[windowUpdate(1, WINDOW_MAX - 65_535), settings([4, 65_536])],
  ],
];

test.each(connectionErrors.map(named))(
  "$what ends the connection",
  async ({ code, frames }) => {
    const [stage, one, two] = await Stage.ready(2);
    stage.peer.send(...frames);
    await settled();
    const [sent, ...more] = stage.peer.of(frameType.goaway);
    expect([sent!.payload[7], more.length, stage.peer.isEnded]).toEqual([code, 0, true]);
    expect(textOf(sent!.payload.subarray(8))).not.toBe("");
    for (const { received } of [one!, two!]) {
      expect(received.at(-1)).toMatch(/^reset: the endpoint broke HTTP\/2: it sent /);
    }
    // What follows is not read, and the next exchange has a new connection.
    stage.peer.send(head(1), data(1, "a"));
    stage.peer.listener.closed();
    expect(stage.client.load.streams).toBe(0);
    stage.open();
    expect(stage.peers).toHaveLength(2);
  },
);

/** What ends one stream, and the code that the endpoint is told. */
const streamErrors: readonly Misbehavior[] = [
  ["a body before its head", protocolError, data(1, "a")],
  ["a body behind informational heads", protocolError, status("100"), data(1, "a")],
  ["no status", protocolError, head(1, END_HEADERS, [...field("x-a", "1")])],
  [
    "a status behind another header",
    protocolError,
    head(1, END_HEADERS, [...field("a", "1"), ...OK]),
  ],
  ["two statuses", protocolError, head(1, END_HEADERS, [...OK, ...OK])],
  ["a status of letters", protocolError, status("abc")],
  ["a status of two digits", protocolError, status("20")],
  ["status 101", protocolError, status("101")],
  ["an informational head at the end", protocolError, status("100", END_HEADERS | END_STREAM)],
  ["a pseudo-header of requests", protocolError, headWith([":path", "/"])],
  ["an empty name", protocolError, headWith(["", "a"])],
  ["a name in upper case", protocolError, headWith(["X-A", "1"])],
  ["a name with a space", protocolError, headWith(["x a", "1"])],
  ["a header of the connection", protocolError, headWith(["connection", "close"])],
  ["transfer-encoding", protocolError, headWith(["transfer-encoding", "chunked"])],
  ["a value with an end of line", protocolError, headWith(["x-a", "1\r\nx-b: 2"])],
  ["a value with NUL", protocolError, headWith(["x-a", "1\0"])],
  ["a value with a space before it", protocolError, headWith(["x-a", " 1"])],
  ["a length that is no number", protocolError, headWith(["content-length", "-1"])],
  ["a longer body than announced", protocolError, headWith(["content-length", "1"]), data(1, "ab")],
  [
    "a shorter body than announced",
    protocolError,
    ...[headWith(["content-length", "2"]), data(1, "a", END_STREAM)],
  ],
  [
    "no body where one was announced",
    protocolError,
    head(1, END_HEADERS | END_STREAM, block(["content-length", "2"])),
  ],
  ["headers that are too large", protocolError, head(1, END_HEADERS, [...OK, ...MANY_HEADERS])],
  ["a second head", protocolError, head(1), head(1)],
  [
    "trailers with a pseudo-header",
    protocolError,
    ...[head(1), data(1, "a"), head(1, END_HEADERS | END_STREAM)],
  ],
  ["more than its window allows", flowControlError, head(1), ...repeated(data(1, TEXT), 129)],
  ["WINDOW_UPDATE of nothing on it", protocolError, windowUpdate(1, 0)],
  ["WINDOW_UPDATE of too much on it", flowControlError, windowUpdate(1, WINDOW_MAX)],
  ["PRIORITY of a wrong size", frameSizeError, frame(2, 0, 1, [0])],
];

test.each(streamErrors.map(named))(
  "$what ends its stream, and no other",
  async ({ code, frames }) => {
    const [stage, one, two] = await Stage.ready(2);
    // Then its window is not renewed.
    one!.exchange.pause();
    stage.peer.send(...frames);
    one!.exchange.resume();
    await settled();
    expect(one!.received.at(-1)).toMatch(/^reset: the endpoint broke HTTP\/2: it sent /);
    const resets = stage.peer.of(frameType.rstStream);
    expect(resets.map(({ stream, payload }) => [stream, payload[3]])).toEqual([[1, code]]);
    stage.peer.send(...frames.slice(-1), head(3), data(3, "a", END_STREAM));
    expect(two!.received).toEqual(["head 200", "a", "end"]);
    expect(stage.peer.of(frameType.goaway)).toEqual([]);
  },
);

test.each([
  ["a body", data(1, "b")],
  ["another head", head(1)],
  ["trailers", head(1, END_HEADERS | END_STREAM, [...field("x-a", "1")])],
])("%s behind a response resets its stream, and the response stays one", async (_, behind) => {
  const [stage, talk] = await Stage.ready();
  stage.peer.send(head(1), data(1, "a", END_STREAM), behind);
  await settled();
  expect(talk!.received).toEqual(["head 200", "a", "end"]);
  expect(stage.peer.of(frameType.rstStream).map(({ payload }) => payload[3]))
    .toEqual([errorCode.streamClosed]);
});

test("paused streams hold back their own window, not that of the connection", async () => {
  const [stage, ...talks] = await Stage.ready(10);
  for (const [i, { exchange }] of talks.slice(1).entries()) {
    exchange.pause();
    const piece = data(2 * i + 3, TEXT);
    stage.peer.send(head(2 * i + 3));
    for (let n = 0; n < 128; n++) stage.peer.listener.received(piece);
  }
  stage.peer.send(head(1), data(1, "a", END_STREAM));
  expect(talks[0]!.received).toEqual(["head 200", "a", "end"]);
  await settled();
  const credits = stage.peer.of(frameType.windowUpdate);
  expect(credits.map(({ stream }) => stream)).toEqual([0, 0, 0]);
});

test("an endpoint that asks without reading is cut off", async () => {
  const [stage, talk] = await Stage.ready();
  stage.peer.hasRoom = false;
  stage.peer.send(ping());
  await settled();
  for (let i = 0; i < 1100; i++) stage.peer.send(ping());
  expect(talk!.received).toEqual([expect.stringMatching(/ask for 1000 others.*does not read/)]);
  expect(stage.peer.isEnded).toBe(true);
});

test("an endpoint that reads may ask often", async () => {
  const [stage, talk] = await Stage.ready();
  for (let i = 0; i < 20; i++) {
    stage.peer.send(...repeated(ping(), 200), ...repeated(settings(), 200));
    await settled();
  }
  expect([talk!.received, stage.peer.of(frameType.ping).length]).toEqual([[], 4000]);
  // What it has read does not count when it does not read for a while.
  stage.peer.hasRoom = false;
  stage.peer.send(ping());
  await settled();
  stage.peer.send(...repeated(ping(), 900));
  expect(talk!.received).toEqual([]);
});

test("the first frame must be SETTINGS", async () => {
  for (
    const first of [ping(), goaway(0, 0), frame(4, 1, 0), latin1("HTTP/1.1 400 Bad Request\r\n")]
  ) {
    const stage = new Stage();
    const talk = stage.open();
    stage.peer.accept(first);
    expect(talk.received).toEqual(["http1: the server does not speak HTTP/2"]);
  }
});
