import { ConnectionError } from "./connection_error.ts";
import { RECEIVED_FRAME_BYTES_MAX } from "./limits.ts";
import { errorCode, FRAME_HEAD_BYTES, frameType } from "./protocol.ts";

/** Takes the frames of a connection in their order. What it throws ends the reading. */
export interface FrameHandler {
  /** A DATA frame begins, with `length` bytes of payload. */
  dataBegins(flags: number, stream: number, length: number): void;
  /** Some of its payload: the bytes from `at` to `end`, valid during the call only. */
  data(bytes: Uint8Array, at: number, end: number): void;
  dataEnds(): void;
  /** A whole frame of another type. Its payload is in the bytes from `at` to `end`. */
  frame(head: FrameHead, bytes: Uint8Array, at: number, end: number): void;
  /** Whether to stop: the rest of the bytes is not read. */
  readonly isOver: boolean;
}

/** The head of the current frame. It is reused for the next one. */
export interface FrameHead {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

const NOTHING = new Uint8Array(0);

/**
 * Cuts a byte stream into frames, wherever its chunks were cut. Payloads of DATA are passed on as
 * they come; of other frames, those that lie within one chunk are not copied.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #head = { type: 0, flags: 0, stream: 0 };
  /** The first bytes of a head that was cut. */
  readonly #partial = new Uint8Array(FRAME_HEAD_BYTES);
  #partialBytes = 0;
  /** Payload of the current frame that is still to come. -1: between frames. */
  #left = -1;
  /** The payload of a frame that was cut, with room for all of it. */
  #payload: Uint8Array = NOTHING;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** Reads all of `bytes`. Throws `ConnectionError` for a frame that is too large. */
  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && !this.#handler.isOver) {
      at = this.#left < 0 ? this.#begin(bytes, at) : this.#continue(bytes, at);
    }
  }

  #begin(bytes: Uint8Array, from: number): number {
    let at = from;
    if (this.#partialBytes === 0 && bytes.length - at >= FRAME_HEAD_BYTES) {
      this.#parse(bytes, at);
      at += FRAME_HEAD_BYTES;
    } else {
      while (this.#partialBytes < FRAME_HEAD_BYTES) {
        if (at === bytes.length) return at;
        this.#partial[this.#partialBytes++] = bytes[at++]!;
      }
      this.#partialBytes = 0;
      this.#parse(this.#partial, 0);
    }
    if (this.#head.type === frameType.data) {
      this.#handler.dataBegins(this.#head.flags, this.#head.stream, this.#left);
      if (this.#left === 0) this.#endData();
      return at;
    }
    const end = at + this.#left;
    if (end > bytes.length) {
      this.#payload = new Uint8Array(this.#left);
      return at;
    }
    this.#left = -1;
    this.#handler.frame(this.#head, bytes, at, end);
    return end;
  }

  #continue(bytes: Uint8Array, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    if (this.#head.type === frameType.data) {
      this.#left -= end - at;
      this.#handler.data(bytes, at, end);
      if (this.#left === 0) this.#endData();
      return end;
    }
    this.#payload.set(bytes.subarray(at, end), this.#payload.length - this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#endFrame();
    return end;
  }

  #endData(): void {
    this.#left = -1;
    if (!this.#handler.isOver) this.#handler.dataEnds();
  }

  #endFrame(): void {
    const payload = this.#payload;
    this.#payload = NOTHING;
    this.#left = -1;
    this.#handler.frame(this.#head, payload, 0, payload.length);
  }

  #parse(bytes: Uint8Array, at: number): void {
    const length = bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!;
    if (length > RECEIVED_FRAME_BYTES_MAX) {
      throw new ConnectionError(
        errorCode.frameSizeError,
        `a frame of ${length} bytes, of ${RECEIVED_FRAME_BYTES_MAX} at most`,
      );
    }
    const head = this.#head;
    head.type = bytes[at + 3]!;
    head.flags = bytes[at + 4]!;
    head.stream = readInt31(bytes, at + 5);
    this.#left = length;
  }
}

/** A big-endian u32 at `at`. The callers have checked the length. */
export function readInt32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!) >>> 0;
}

/** As `readInt32`, without the first bit, which is reserved. */
export function readInt31(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) & 0x7fff_ffff;
}
