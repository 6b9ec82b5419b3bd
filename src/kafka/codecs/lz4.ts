import { Input } from "./input.ts";
import { Output } from "./output.ts";

const MAGIC = 0x184d2204;
const VERSION = 1;
const NOT_PACKED = 0x8000_0000;
const MATCH_MIN = 4;

/**
 * Unpacks LZ4 frames, one after the other. Checksums are not compared: the checksum of the batch
 * covers them. Throws `RangeError` for anything else, and for dictionaries.
 */
export function unpackLz4(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const input = new Input(packed);
  const output = new Output();
  while (!input.isAtEnd) frame(input, output);
  return output.written();
}

function frame(input: Input, output: Output): void {
  if (input.littleEndian(4) !== MAGIC) throw new RangeError("Cannot unpack: this is no LZ4 frame");
  const flags = input.byte();
  if (flags >>> 6 !== VERSION) throw new RangeError(`Cannot unpack LZ4 version ${flags >>> 6}`);
  if (flags & 0x01) throw new RangeError("Cannot unpack LZ4 with a dictionary");
  const hasContentSize = (flags & 0x08) !== 0;
  // The largest block size, the content size, and a checksum of the header.
  input.take(1 + (hasContentSize ? 8 : 0) + 1);
  const checksumBytes = flags & 0x10 ? 4 : 0;
  for (let size = input.littleEndian(4); size !== 0; size = input.littleEndian(4)) {
    const isPacked = size < NOT_PACKED;
    const bytes = input.take(isPacked ? size : size - NOT_PACKED);
    if (isPacked) block(new Input(bytes), output);
    else output.append(bytes);
    input.take(checksumBytes);
  }
  if (flags & 0x04) input.take(4);
}

/** Sequences of literals and a match; the last has literals only. */
function block(input: Input, output: Output): void {
  while (!input.isAtEnd) {
    const token = input.byte();
    output.append(input.take(extended(input, token >>> 4)));
    if (input.isAtEnd) return;
    const distance = input.littleEndian(2);
    output.repeat(distance, extended(input, token & 0x0f) + MATCH_MIN);
  }
}

/** A length of four bits, with further bytes as long as they are 255. */
function extended(input: Input, length: number): number {
  if (length < 15) return length;
  let total = length;
  for (;;) {
    const byte = input.byte();
    total += byte;
    if (byte < 255) return total;
  }
}
