import { assert } from "../assert.ts";
import { fromBase64, toBase64 } from "./base64.ts";
import {
  afterVersion,
  BadId,
  INVOCATION_ID_BYTES,
  parseInvocationId,
  printInvocationId,
} from "./id.ts";

/**
 * An awakeable: a signal of the invocation that created it
 * (docs/spec/service-protocol.md#awakeable-ids).
 */
export interface Awakeable {
  /** `inv_1…`, well-formed. */
  readonly target: string;
  /** A u32. SDKs begin at 17. */
  readonly index: number;
}

/** `prom` is what protocol versions before 4 printed; the number is then no signal. */
const PREFIXES = ["sign", "prom"];
const SIZE = INVOCATION_ID_BYTES + 4;
/** Digits of 28 bytes, and the padding that may follow them. */
const DIGITS = Math.ceil(SIZE * 4 / 3);
const PADDING = "==";

/**
 * What the id of an awakeable names (docs/spec/service-protocol.md#awakeable-ids): `sign_1` and the
 * URL-safe base64, with or without padding, of the invocation's 24 bytes and the index, big endian.
 * Undefined for a well-formed id of the oldest protocols (`prom_1…`), which no invocation here can
 * have created. Throws `BadId` in the words of docs/spec/service-protocol.md#invocation-ids.
 */
export function parseAwakeableId(text: string): Awakeable | undefined {
  const digits = afterVersion(text, PREFIXES);
  const padded = digits.length === DIGITS + PADDING.length && digits.endsWith(PADDING);
  const bytes = fromBase64(padded ? digits.slice(0, DIGITS) : digits);
  const isLegacy = text.startsWith("prom");
  if (bytes?.length !== SIZE) {
    throw new BadId(isLegacy ? "bad length" : "id doesn't match the expected type");
  }
  if (isLegacy) return undefined;
  return {
    target: printInvocationId(bytes.subarray(0, INVOCATION_ID_BYTES)),
    index: new DataView(bytes.buffer).getUint32(INVOCATION_ID_BYTES),
  };
}

/**
 * The id that SDKs print for a signal of this invocation, without padding. `target`: `inv_1…`.
 * `index`: a u32. Throws `BadId` for a malformed target.
 */
export function printAwakeableId(target: string, index: number): string {
  assert(index >>> 0 === index, "The index of an awakeable must be a u32");
  const bytes = new Uint8Array(SIZE);
  bytes.set(parseInvocationId(target));
  new DataView(bytes.buffer).setUint32(INVOCATION_ID_BYTES, index);
  return `sign_1${toBase64(bytes)}`;
}
