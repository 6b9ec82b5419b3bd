import { Buffer } from "node:buffer";

/** Types and flags of HTTP/2 frames (RFC 9113, section 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
} as const;
export const END_STREAM = 1, END_HEADERS = 4;

const EMPTY = new Uint8Array(0);

/** What a client sends first, with empty settings. */
export const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(TYPE.settings),
]);

/** One frame, as it stands on the wire, whether it is allowed there or not. */
export function frame(type: number, flags = 0, stream = 0, body: Uint8Array = EMPTY): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** A header of HPACK that is written out: no table, no Huffman code (RFC 7541, section 6.2.2). */
export function header(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

/** The head of a request, of which the first two headers are indices of the static table. */
export function request(method: "GET" | "POST", path: string, authority = "a"): Buffer {
  const indices = [method === "GET" ? 0x82 : 0x83, 0x86];
  return Buffer.concat([
    Buffer.from([...indices, 0x04]),
    text(path),
    Buffer.from([0x01]),
    text(authority),
  ]);
}

/**
 * A string of HPACK (RFC 7541, section 5.2): its length, of seven bits and more, then its bytes.
 */
function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const size: number[] = [];
  if (bytes.length < 127) size.push(bytes.length);
  else {
    size.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>= 7) size.push(rest % 128 + 128);
    size.push(rest);
  }
  return Buffer.concat([Buffer.from(size), bytes]);
}
