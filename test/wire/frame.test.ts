import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { encodeFrame, FRAME_HEAD_BYTES, FrameReader } from "../../src/wire/frame.ts";
import { concat, cutAt, framesOf } from "./_bytes.ts";

const u16 = fc.integer({ min: 0, max: 0xffff });
const frame = fc.record({ type: u16, flags: u16, body: fc.uint8Array({ maxLength: 40 }) });

test("frames come out as they went in, however the stream is cut", () => {
  fc.assert(fc.property(fc.array(frame), fc.array(fc.nat()), (frames, cuts) => {
    const stream = concat(frames.map(({ type, flags, body }) => encodeFrame(type, body, flags)));
    expect(framesOf(...cutAt(stream, cuts))).toEqual(frames);
  }));
});

test("frames come out as they went in, byte by byte", () => {
  const stream = concat([
    encodeFrame(0x0403, Uint8Array.of(1, 2, 3)),
    encodeFrame(3, new Uint8Array()),
  ]);
  const chunks = [...stream].map((byte) => Uint8Array.of(byte));
  expect(framesOf(...chunks)).toEqual(framesOf(stream));
});

test("a header is eight bytes, big endian", () => {
  const bytes = encodeFrame(0x0405, new Uint8Array(0x0102), 0x8000);
  expect([...bytes.subarray(0, FRAME_HEAD_BYTES)]).toEqual([4, 5, 0x80, 0, 0, 0, 1, 2]);
});

test("a body that lies within one chunk is a view of it", () => {
  const chunk = concat([encodeFrame(1, Uint8Array.of(7)), encodeFrame(2, Uint8Array.of(8))]);
  const buffers: ArrayBufferLike[] = [];
  new FrameReader(100).push(chunk, (_type, _flags, body) => buffers.push(body.buffer));
  expect(buffers).toEqual([chunk.buffer, chunk.buffer]);
});

test("a body that was collected is not shared with the next one", () => {
  const reader = new FrameReader(100);
  const bodies: Uint8Array[] = [];
  for (const byte of concat([encodeFrame(1, Uint8Array.of(7)), encodeFrame(1, Uint8Array.of(8))])) {
    reader.push(Uint8Array.of(byte), (_type, _flags, body) => bodies.push(body));
  }
  expect(bodies).toEqual([Uint8Array.of(7), Uint8Array.of(8)]);
});

test("a body at the limit is refused with its header, one below it passes", () => {
  const head = encodeFrame(1, new Uint8Array(10)).subarray(0, FRAME_HEAD_BYTES);
  const refuse = () => new FrameReader(10).push(head, () => expect.unreachable());
  expect(refuse).toThrow(Failure);
  expect(refuse).toThrow("[RT0003] message encoding error: hit message size limit: 10 >= 10");
  expect(() => new FrameReader(11).push(head, () => expect.unreachable())).not.toThrow();
});

test("the limit also holds when the header comes in parts, and for lengths above 2^31", () => {
  const reader = new FrameReader(2 ** 25);
  reader.push(Uint8Array.of(0, 1, 0), () => expect.unreachable());
  expect(() => reader.push(Uint8Array.of(0, 255, 255, 255, 255), () => expect.unreachable()))
    .toThrow("hit message size limit: 4294967295 >= 33554432");
});

test("pending bytes tell whether a stream ended inside a frame", () => {
  const bytes = encodeFrame(1, new Uint8Array(5));
  for (let cut = 0; cut <= bytes.length; cut++) {
    const reader = new FrameReader(100);
    reader.push(bytes.subarray(0, cut), () => {});
    expect(reader.pendingBytes).toBe(cut === bytes.length ? 0 : cut);
  }
});

test("room is made for what came, not for what was announced", () => {
  const before = process.memoryUsage().arrayBuffers;
  const reader = new FrameReader(2 ** 32);
  reader.push(Uint8Array.of(0, 1, 0, 0, 127, 0, 0, 0, 1, 2, 3), () => expect.unreachable());
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
  expect(reader.pendingBytes).toBe(11);
});

test("a frame of 32 MiB in chunks of 16 KiB is put together in linear time", () => {
  const body = new Uint8Array(32 * 2 ** 20 - 1).map((_, i) => i);
  const stream = encodeFrame(0x0401, body);
  const reader = new FrameReader(32 * 2 ** 20);
  let got: Uint8Array | undefined;
  const start = performance.now();
  for (let at = 0; at < stream.length; at += 16384) {
    reader.push(stream.subarray(at, at + 16384), (_type, _flags, one) => got = one);
  }
  // Concatenating anew for each chunk moves 32 GiB and takes ten times as long.
  expect(performance.now() - start).toBeLessThan(1000);
  expect(got?.length).toBe(body.length);
  expect(got?.every((byte, i) => byte === (i & 255))).toBe(true);
});

test("any bytes give frames or RT0003, and nothing else", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array()), fc.nat(1000), (chunks, limit) => {
    const reader = new FrameReader(limit);
    try {
      for (const chunk of chunks) {
        reader.push(chunk, (_t, _f, { length }) => expect(length < limit));
      }
    } catch (error) {
      expect(error).toMatchObject({ code: "RT0003" });
    }
  }));
});

test("a frame that may not be taken yet is left, with all that follows it", () => {
  const stream = concat([1, 2, 1, 3].map((type) => encodeFrame(type, Uint8Array.of(type))));
  const reader = new FrameReader(100);
  const types: number[] = [];
  const take = (bytes: Uint8Array, mayTake: (type: number) => boolean) =>
    bytes.subarray(reader.push(bytes, (type) => types.push(type), mayTake));
  const rest = take(stream, (type) => type !== 2);
  expect(types).toEqual([1]);
  expect(rest).toHaveLength(27);
  expect(take(rest, () => false)).toHaveLength(27);
  expect(take(rest, (type) => type < 3)).toHaveLength(9);
  expect(types).toEqual([1, 2, 1]);
  expect(reader.pendingBytes).toBe(0);
});
