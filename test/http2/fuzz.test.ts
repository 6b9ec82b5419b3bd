import fc from "fast-check";
import { expect, test } from "vitest";
import { frameType, PREFACE } from "../../src/http2/protocol.ts";
import { join, latin1 } from "./_bytes.ts";
import {
  data,
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  head,
  int32,
  OK,
  ping,
  reset,
  settings,
  settled,
  Stage,
  type Talk,
  windowUpdate,
} from "./_peer.ts";

/** What an endpoint sends on two streams: everything that may come, in one stream of bytes. */
const CONVERSATION = join(
  settings([3, 10], [4, 100]),
  head(1, END_HEADERS, [...OK, 0x40, ...field("x-a", "1").slice(1)]),
  ping(),
  frame(1, 0x2c, 3, [1, 0, 0, 0, 0, 9, ...OK, 0xbe, 0]),
  data(1, "hello"),
  frame(0, 8, 3, [3, ...latin1("padded"), 0, 0, 0]),
  windowUpdate(0, 1000),
  frame(0xbb, 0, 5, [1, 2, 3]),
  data(3, "world", END_STREAM),
  frame(1, END_STREAM, 1),
  frame(9, END_HEADERS, 1, [...field("x-trailer", "2")]),
  frame(7, 0, 0, [...int32(3), ...int32(0), ...latin1("bye")]),
);

/** Chunks together, because where they are cut is no event. */
function joined({ received }: Talk): string[] {
  const events: string[] = [];
  let isChunk = false;
  for (const line of received) {
    const wasChunk = isChunk;
    isChunk = !/^(head|end|drain|[a-z]+:)/.test(line);
    if (isChunk && wasChunk) events[events.length - 1] += line;
    else events.push(line);
  }
  return events;
}

/** What two exchanges and the endpoint receive when its bytes are cut at `cuts`. */
async function play(bytes: Uint8Array, cuts: readonly number[]): Promise<unknown> {
  const stage = new Stage();
  const talks = [stage.open(), stage.open()];
  stage.peer.listener.opened();
  for (const [from, to] of cuts.map((cut, i) => [cut, cuts[i + 1]] as const)) {
    stage.peer.listener.received(bytes.subarray(from, to));
    await settled();
  }
  talks[0]!.exchange.write(latin1("x"));
  await settled();
  const frames = stage.peer.frames.map(({ type, stream }) => `${type} ${stream}`).sort();
  return { events: talks.map(joined), frames, isEnded: stage.peer.isEnded };
}

const WHOLE = {
  events: [["head 200 1", "hello", "end"], ["head 200 1", "paddedworld", "end"]],
  isEnded: false,
};

test("the bytes of an endpoint mean the same wherever they are cut", async () => {
  const whole = await play(CONVERSATION, [0]);
  expect(whole).toMatchObject(WHOLE);
  for (let at = 1; at < CONVERSATION.length; at++) {
    expect(await play(CONVERSATION, [0, at]), `cut at ${at}`).toEqual(whole);
  }
  const each = Array.from(CONVERSATION, (_, at) => at);
  expect(await play(CONVERSATION, each)).toEqual(whole);
});

const streamId = fc.oneof(fc.constantFrom(0, 1, 2, 3, 5, 99), fc.integer({ min: 0, max: 2 ** 31 }));
const block = fc.oneof(
  fc.constantFrom<readonly number[]>(OK, [], field("x-a", "1") as unknown as number[], [
    0x3f,
    0xe1,
  ]),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => [...bytes]),
);
const anyFrame = fc.oneof(
  fc.tuple(streamId, fc.integer({ min: 0, max: 255 }), block)
    .map(([id, flags, bytes]) => head(id, flags, bytes)),
  fc.tuple(streamId, fc.integer({ min: 0, max: 255 }), fc.string({ maxLength: 30 }))
    .map(([id, flags, text]) => data(id, text, flags)),
  fc.tuple(streamId, fc.integer({ min: 0, max: 15 })).map(([id, code]) => reset(id, code)),
  fc.tuple(streamId, fc.integer({ min: 0, max: 2 ** 31 - 1 })).map((all) => windowUpdate(...all)),
  fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
    .map((pair) => settings(pair)),
  fc.constantFrom(ping(), ping(1), settings(), latin1(PREFACE)),
  fc.tuple(
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: 0, max: 255 }),
    streamId,
    fc.uint8Array({ maxLength: 40 }),
  ).map((all) => frame(...all)),
  fc.uint8Array({ maxLength: 40 }),
);

/** What the client does between what arrives. */
const action = fc.constantFrom("write", "end", "abort", "pause", "resume", "open", "full", "drain");
const step = fc.oneof({ weight: 3, arbitrary: anyFrame }, { weight: 1, arbitrary: action });

function act(stage: Stage, talks: Talk[], what: string): void {
  const peer = stage.peers.at(-1)!;
  for (const { exchange } of talks.slice(0, 2)) {
    if (what === "write") exchange.write(new Uint8Array(40_000));
    else if (what === "end") exchange.end();
    else if (what === "abort") exchange.abort();
    else if (what === "pause") exchange.pause();
    else if (what === "resume") exchange.resume();
  }
  if (what === "full") peer.hasRoom = false;
  if (what === "open" && talks.length < 50) talks.push(stage.open());
  if (what === "drain") {
    peer.hasRoom = true;
    if (!peer.isEnded) peer.listener.drained();
  }
}

test("whatever an endpoint sends, nothing is thrown and each exchange ends once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const [stage, ...talks] = await Stage.ready(3);
      for (const one of steps) {
        if (typeof one === "string") act(stage, talks, one);
        else stage.peer.listener.received(one);
        if (one.length % 3 === 0) await settled();
      }
      for (const { exchange } of talks) exchange.resume();
      for (const { listener } of stage.peers) listener.closed();
      await settled();
      for (const [i, { received }] of talks.entries()) {
        const ends = received.filter((line) => /^(end$|[a-z0-9]+: )/.test(line));
        const isAborted = i < 2 && steps.includes("abort");
        if (isAborted) expect(ends.length).toBeLessThanOrEqual(1);
        else expect(ends).toHaveLength(1);
        const heads = received.filter((line) => line.startsWith("head "));
        expect(heads.length).toBeLessThanOrEqual(1);
        if (ends[0] === "end") expect(heads).toHaveLength(1);
      }
      expect(stage.client.load).toEqual({ streams: 0, queuedBytes: 0 });
    }),
    { numRuns: 500 },
  );
});

test("garbage from the first byte on fails what waits", async () => {
  await fc.assert(fc.asyncProperty(fc.uint8Array({ minLength: 30 }), async (bytes) => {
    const stage = new Stage();
    const talk = stage.open();
    stage.peer.listener.opened();
    stage.peer.listener.received(bytes);
    stage.peer.listener.closed();
    await settled();
    expect(talk.received).toHaveLength(1);
    expect(talk.received[0]).toMatch(/^(http1|reset): /);
    expect(stage.peer.of(frameType.headers).length).toBeLessThanOrEqual(1);
  }));
});
