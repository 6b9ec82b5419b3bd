import { FrameReader } from "../../src/wire/frame.ts";

/** Bytes from the notation of the captures: hex digits in any spacing, text in double quotes. */
export function bytesOf(notation: string): Uint8Array {
  const parts = [...notation.matchAll(/"([^"]*)"|([0-9a-fA-F]{2})|(\S)/g)];
  return Uint8Array.from(parts.flatMap(([, text, hex, other]) => {
    if (other !== undefined) throw new Error(`Cannot read ${other} in ${notation}`);
    return text === undefined ? [parseInt(hex ?? "", 16)] : [...new TextEncoder().encode(text)];
  }));
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly body: Uint8Array;
}

/** All frames of a stream that comes in these chunks, with bodies of their own. */
export function framesOf(...chunks: readonly Uint8Array[]): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader(2 ** 25);
  for (const chunk of chunks) {
    reader.push(chunk, (type, flags, body) => frames.push({ type, flags, body: body.slice() }));
  }
  if (reader.pendingBytes > 0) throw new Error(`${reader.pendingBytes} bytes are left over`);
  return frames;
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Cuts bytes at these places, in any order. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) =>
    a - b
  );
  return [0, ...sorted].map((from, i) => bytes.subarray(from, sorted[i] ?? bytes.length));
}
