import { Failure } from "../errors.ts";

/**
 * Bytes before the body of a frame: type u16, flags u16, length u32
 * (docs/spec/service-protocol.md#frames).
 */
export const FRAME_HEAD_BYTES = 8;

/**
 * Flag bit: the sender requests an acknowledgement when this is stored
 * (docs/spec/service-protocol.md#frames).
 */
export const REQUESTED_ACK = 0x8000;

/**
 * Initial bytes of a frame buffer: a value of 64 KiB, and what is around it. It doubles, so copies stay
 * below twice the frame.
 */
const BUFFER_BYTES = 65 * 1024;
/** From this size on the buffer gets its final size: another copy of 15 MB would block the loop. */
const ROOM_BYTES_MIN = 4 * 1024 * 1024;

/** A whole frame around `body`. `type` and `flags` are u16. Copies the body. */
export function encodeFrame(type: number, body: Uint8Array, flags = 0): Uint8Array {
  const frame = new Uint8Array(FRAME_HEAD_BYTES + body.length);
  writeFrameHead(frame, 0, { type, flags, length: body.length });
  frame.set(body, FRAME_HEAD_BYTES);
  return frame;
}

/**
 * The 8 bytes that precede a body, big endian (docs/spec/service-protocol.md#frames). `target` must
 * have room at `at`.
 */
export function writeFrameHead(
  target: Uint8Array,
  at: number,
  head: { readonly type: number; readonly flags: number; readonly length: number },
): void {
  const { type, flags, length } = head;
  target[at] = type >>> 8;
  target[at + 1] = type;
  target[at + 2] = flags >>> 8;
  target[at + 3] = flags;
  target[at + 4] = length >>> 24;
  target[at + 5] = length >>> 16;
  target[at + 6] = length >>> 8;
  target[at + 7] = length;
}

/**
 * Takes one frame. A `body` that is a view of the chunk is valid only during the call: copy the parts
 * that are kept, since a view pins (or shares) the buffer of the network.
 */
export type OnFrame = (type: number, flags: number, body: Uint8Array) => void;
/** Whether a frame of this type may be taken now. */
export type MayTake = (type: number) => boolean;

/**
 * Cuts a byte stream into frames, wherever its chunks were cut. A frame that lies within one chunk
 * is not copied. Once `push` threw, the stream cannot be read on: drop the reader.
 */
export class FrameReader {
  readonly #bodyBytesMax: number;
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES);
  #headFilled = 0;
  /** The body being collected, with room beyond the received bytes. */
  #body: Uint8Array | undefined;
  #bodyFilled = 0;
  #bodyLength = 0;

  /** Bodies of `bodyBytesMax` bytes and more are refused (docs/spec/service-protocol.md#frames). */
  constructor(bodyBytesMax: number) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** Bytes held of an unfinished frame. Not 0 at the end of a stream: it ended inside a frame. */
  get pendingBytes(): number {
    return this.#headFilled + this.#bodyFilled;
  }

  /**
   * Calls `onFrame` for each frame that `chunk` completes. Stops before a frame that lies within the
   * chunk and that `mayTake` refuses (absent: it refuses none). Returns how many bytes were read: the
   * others must be pushed again, before any later chunk. Throws `Failure` RT0003 as soon as a header
   * announces a body over the limit, and whatever `onFrame` throws.
   */
  push(chunk: Uint8Array, onFrame: OnFrame, mayTake?: MayTake): number {
    let at = 0;
    if (this.#headFilled > 0) at = this.#continue(chunk, onFrame);
    while (chunk.length - at >= FRAME_HEAD_BYTES) {
      if (mayTake && !mayTake(u16(chunk, at))) return at;
      const length = this.#lengthOf(chunk, at);
      const start = at + FRAME_HEAD_BYTES;
      if (chunk.length - start < length) break;
      at = start + length;
      const body = chunk.subarray(start, at);
      onFrame(u16(chunk, start - 8), u16(chunk, start - 6), body);
    }
    if (at < chunk.length) this.#begin(chunk, at);
    return chunk.length;
  }

  /** Adds to the frame that earlier chunks began. Returns where the next one starts. */
  #continue(chunk: Uint8Array, onFrame: OnFrame): number {
    let at = 0;
    while (this.#headFilled < FRAME_HEAD_BYTES && at < chunk.length) {
      this.#head[this.#headFilled++] = chunk[at++]!;
    }
    if (this.#headFilled < FRAME_HEAD_BYTES) return at;
    if (!this.#body) this.#bodyLength = this.#lengthOf(this.#head, 0);
    const end = Math.min(chunk.length, at + this.#bodyLength - this.#bodyFilled);
    if (end > at || !this.#body) this.#append(chunk, at, end);
    if (this.#bodyFilled === this.#bodyLength) this.#finish(onFrame);
    return end;
  }

  /** Keeps the rest of a chunk: the beginning of a frame, or of its header. */
  #begin(chunk: Uint8Array, at: number): void {
    const head = Math.min(FRAME_HEAD_BYTES, chunk.length - at);
    this.#head.set(chunk.subarray(at, at + head));
    this.#headFilled = head;
    if (head < FRAME_HEAD_BYTES) return;
    this.#bodyLength = this.#lengthOf(this.#head, 0);
    this.#append(chunk, at + head, chunk.length);
  }

  /** Grows to twice the received bytes, or to all after 4 MiB: a header alone allocates nothing. */
  #append(chunk: Uint8Array, from: number, to: number): void {
    const filled = this.#bodyFilled + to - from;
    if (!this.#body || this.#body.length < filled) {
      const wanted = filled < ROOM_BYTES_MIN ? Math.max(BUFFER_BYTES, 2 * filled) : Infinity;
      const room = Math.min(this.#bodyLength, wanted);
      const body = new Uint8Array(room);
      if (this.#body) body.set(this.#body.subarray(0, this.#bodyFilled));
      this.#body = body;
    }
    this.#body.set(chunk.subarray(from, to), this.#bodyFilled);
    this.#bodyFilled = filled;
  }

  #finish(onFrame: OnFrame): void {
    const body = this.#body?.subarray(0, this.#bodyLength) ?? new Uint8Array();
    this.#headFilled = 0;
    this.#body = undefined;
    this.#bodyFilled = 0;
    onFrame(u16(this.#head, 0), u16(this.#head, 2), body);
  }

  #lengthOf(bytes: Uint8Array, at: number): number {
    const length = u16(bytes, at + 4) * 0x10000 + u16(bytes, at + 6);
    if (length < this.#bodyBytesMax) return length;
    const limit = this.#bodyBytesMax;
    throw new Failure(
      "RT0003",
      `message encoding error: hit message size limit: ${length} >= ${limit}`,
    );
  }
}

/** A big endian u16. The callers have checked the length. */
function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 8) | bytes[at + 1]!;
}
