import { assert } from "../../../src/assert.ts";
import { concatBytes } from "../../../src/bytes.ts";

/** A message between the server and a query process: JSON, or bytes as they are. */
export type Frame =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

/** Four bytes of length, big-endian, and one with the kind of the frame. */
const HEAD_BYTES = 5;
const JSON_FRAME = 0;
const BYTES_FRAME = 1;

/** The bytes of a frame, in one or two pieces: large ones are not copied. */
export function encodeFrame(frame: Frame): readonly Uint8Array[] {
  if (frame.kind === "bytes") return [headOf(frame.bytes.length, BYTES_FRAME), frame.bytes];
  const bytes = new TextEncoder().encode(JSON.stringify(frame.value));
  return [headOf(bytes.length, JSON_FRAME), bytes];
}

function headOf(length: number, kind: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  new DataView(head.buffer).setUint32(0, length);
  head[HEAD_BYTES - 1] = kind;
  return head;
}

/** Assembles the frames of a pipe, which delivers pieces of any size. */
export class FrameReader {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** The next frame, or its head, is complete with so many bytes. */
  #wanted = HEAD_BYTES;

  /** The frames that this piece completes. */
  *read(piece: Uint8Array): Generator<Frame> {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length >= this.#wanted) {
      // A frame of many pieces is copied twice: when its head is complete, and when all of it is.
      const [first = piece, ...others] = this.#pieces;
      const all = others.length === 0 ? first : concatBytes(this.#pieces);
      const length = HEAD_BYTES + new DataView(all.buffer, all.byteOffset).getUint32(0);
      const isWhole = all.length >= length;
      if (isWhole) yield frameOf(all.subarray(0, length));
      const rest = isWhole ? all.subarray(length) : all;
      this.#pieces = [rest];
      this.#length = rest.length;
      this.#wanted = isWhole ? HEAD_BYTES : length;
    }
  }
}

function frameOf(bytes: Uint8Array): Frame {
  const kind = bytes[HEAD_BYTES - 1];
  const body = bytes.subarray(HEAD_BYTES);
  if (kind === BYTES_FRAME) return { kind: "bytes", bytes: body };
  assert(kind === JSON_FRAME, `A frame is JSON or bytes, not ${kind}`);
  return { kind: "json", value: JSON.parse(new TextDecoder().decode(body)) };
}
