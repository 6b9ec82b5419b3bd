import { concatBytes } from "../bytes.ts";
import { Failure } from "../errors.ts";
import { withUtf8 } from "../utf8.ts";

/**
 * The field that represents bytes in the JSON; its value is their number. No field of a message has
 * this name; names that untrusted clients choose are values here, never fields.
 */
const HOLE = "\0";
const HEAD_BYTES = 4;

/**
 * Encodes a message between two processes: the size of its JSON (u32, big endian), the JSON, and every
 * `Uint8Array` in it, in order, unchanged. So a value of 32 MiB is not encoded as text. Fields that are
 * undefined are dropped.
 */
export function pack(value: unknown): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const text = JSON.stringify(emptied(value, parts)) ?? "null";
  return withUtf8(text, (json) => {
    const head = new Uint8Array(HEAD_BYTES);
    new DataView(head.buffer).setUint32(0, json.length);
    return concatBytes([head, json, ...parts]);
  });
}

/**
 * The reverse of `pack`. Small parts are copied, so that they do not keep the message in memory.
 * Throws `Failure` 400 for bytes that are not a message of `pack`.
 */
export function unpack(packed: Uint8Array): unknown {
  try {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    const from = HEAD_BYTES + view.getUint32(0);
    if (from > packed.length) throw new RangeError("the head is cut off");
    const value = JSON.parse(decoder.decode(packed.subarray(HEAD_BYTES, from)));
    const rest = { packed, at: from };
    const filled = fill(value, rest);
    if (rest.at !== packed.length) throw new RangeError("there are more bytes than are named");
    return filled;
  } catch (cause) {
    throw Failure.plain(400, "Cannot read a message of another process", { cause });
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The same value with holes for bytes, which are added to `parts`. */
function emptied(value: unknown, parts: Uint8Array[]): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) {
    parts.push(value);
    return { [HOLE]: value.length };
  }
  if (Array.isArray(value)) return value.map((one) => emptied(one, parts));
  const copy: Record<string, unknown> = {};
  for (const name in value) copy[name] = emptied((value as Record<string, unknown>)[name], parts);
  return copy;
}

interface Rest {
  readonly packed: Uint8Array;
  at: number;
}

/** Puts bytes back into a value, in place. */
function fill(value: unknown, rest: Rest): unknown {
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (HOLE in fields) return take(Number(fields[HOLE]), rest);
  for (const name in fields) fields[name] = fill(fields[name], rest);
  return value;
}

/** A part that is more than half of its message is a view of it; smaller parts are copied. */
function take(size: number, rest: Rest): Uint8Array {
  const { packed, at } = rest;
  rest.at += size;
  if (!(size >= 0) || rest.at > packed.length) throw new RangeError("bytes are missing");
  const part = packed.subarray(at, rest.at);
  return size * 2 > packed.length ? part : part.slice();
}
