import { Input } from "./input.ts";
import { Output, UNPACKED_BYTES_MAX } from "./output.ts";

/** How Java clients begin: blocks with their sizes follow two version numbers of four bytes. */
const XERIAL = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00];
const XERIAL_VERSIONS_BYTES = 8;

/** Unpacks Snappy, raw or in the framing of Java clients. Throws `RangeError` for anything else. */
export function unpackSnappy(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  if (!XERIAL.every((byte, index) => packed[index] === byte)) return unpackRaw(packed);
  const input = new Input(packed);
  input.take(XERIAL.length + XERIAL_VERSIONS_BYTES);
  const output = new Output();
  while (!input.isAtEnd) output.append(unpackRaw(input.take(input.uint32())));
  return output.written();
}

function unpackRaw(packed: Uint8Array): Uint8Array<ArrayBuffer> {
  const input = new Input(packed);
  const length = varint(input);
  // A byte unpacks to 64 at most, so that a lie about the length costs no memory.
  const output = new Output(Math.min(length, packed.length * 64));
  while (!input.isAtEnd) element(input, output);
  if (output.length === length) return output.written();
  throw new RangeError(`Cannot unpack: ${output.length} bytes came instead of ${length}`);
}

function varint(input: Input): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = input.byte();
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) {
      if (value > UNPACKED_BYTES_MAX) break;
      return value;
    }
  }
  throw new RangeError(`Cannot unpack more than ${UNPACKED_BYTES_MAX} bytes`);
}

/** A literal, or a copy with an offset of one, two or four bytes. */
function element(input: Input, output: Output): void {
  const tag = input.byte();
  const kind = tag & 3;
  const upper = tag >>> 2;
  if (kind === 0) {
    const size = upper < 60 ? upper : input.littleEndian(upper - 59);
    return output.append(input.take(size + 1));
  }
  if (kind === 1) {
    const distance = (tag >>> 5) * 256 + input.byte();
    return output.repeat(distance, (upper & 7) + 4);
  }
  output.repeat(input.littleEndian(kind === 2 ? 2 : 4), upper + 1);
}
