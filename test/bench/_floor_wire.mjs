// The few messages of the service protocol that `floor.mjs` needs.
import { Buffer } from "node:buffer";

export const PROTOCOL = "application/vnd.restate.invocation.v5";
export const END = 0x0003, PROPOSED = 0x0005, OUTPUT = 0x0401, SLEEP = 0x040c, CALL = 0x040d;
export const SLEPT = 0x800c, CALLED = 0x800d, RAN = 0x8011;
/** Numbers of the fields of messages that an SDK sends. */
export const FIELD = {
  output: { value: 14 },
  proposal: { completion: 1, value: 14 },
  sleep: { until: 1, completion: 11 },
  call: { service: 1, handler: 2, parameter: 3, completion: 11 },
};
const START = 0x0000, INPUT = 0x0400;
const HEAD_BYTES = 8;

/** What an attempt begins with: all state is known, and there is none. */
export function beginning({ idBytes, id, key = "", body }) {
  const known = Buffer.from([3 << 3, 1]);
  const named = [field(1, idBytes), field(2, Buffer.from(id)), known, field(6, Buffer.from(key))];
  return Buffer.concat([
    frame(START, Buffer.concat(named)),
    frame(INPUT, field(14, field(1, body))),
  ]);
}

/** The completion of a command, with a value if there is one. */
export function completion(type, number, value) {
  const result = value === undefined ? field(4, Buffer.alloc(0)) : field(5, field(1, value));
  return frame(type, Buffer.concat([Buffer.from([1 << 3]), varint(number), result]));
}

/** Calls with the type and the bytes of each whole message; the rest waits for more. */
export function reader(heard) {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    // The client reads into the same bytes again: what is kept is copied.
    rest = Buffer.concat([rest, chunk]);
    let at = 0;
    while (at + HEAD_BYTES <= rest.length) {
      const to = at + HEAD_BYTES + rest.readUInt32BE(at + 4);
      if (to > rest.length) break;
      heard(rest.readUInt16BE(at), rest.subarray(at + HEAD_BYTES, to));
      at = to;
    }
    rest = rest.subarray(at);
  };
}

/** A field of a message: a number, or the bytes of it. */
export function fieldOf(message, wanted) {
  for (let at = 0; at < message.length;) {
    const [tag, afterTag] = readVarint(message, at);
    const [number, afterNumber] = readVarint(message, afterTag);
    const isBytes = (tag & 7) === 2;
    at = isBytes ? afterNumber + number : afterNumber;
    if (tag >> 3 === wanted) return isBytes ? message.subarray(afterNumber, at) : number;
  }
  return undefined;
}

/** The content of a value. */
export const contentOf = (value) => fieldOf(value, 1) ?? Buffer.alloc(0);

function readVarint(bytes, from) {
  let value = 0, at = from;
  for (let factor = 1;; factor *= 0x80) {
    value += (bytes[at] & 0x7f) * factor;
    if (bytes[at++] < 0x80) return [value, at];
  }
}

function varint(number) {
  const bytes = [];
  for (let rest = number;; rest >>>= 7) {
    bytes.push(rest > 0x7f ? rest & 0x7f | 0x80 : rest);
    if (rest <= 0x7f) return Buffer.from(bytes);
  }
}

const field = (number, bytes) =>
  Buffer.concat([Buffer.from([number << 3 | 2]), varint(bytes.length), bytes]);

function frame(type, body) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(type);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}
