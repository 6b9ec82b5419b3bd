import { sha256 } from "@noble/hashes/sha2.js";
import { assert } from "../assert.ts";
import { fromBase64, toBase64 } from "./base64.ts";

/**
 * An operator's new state of an object, in place of all it has
 * (docs/spec/admin.md#state-of-an-object).
 */
export interface StateEdit {
  readonly pairs: readonly StateValue[];
  /** Only if the state is still the one with this version (`stateVersion`). */
  readonly version?: string;
}

export interface StateValue {
  readonly name: string;
  readonly value: Uint8Array;
}

/** Prints an edit as text, since it may wait in an inbox row. */
export function printStateEdit({ pairs, version }: StateEdit): string {
  return JSON.stringify({
    pairs: pairs.map(({ name, value }) => [name, toBase64(value)]),
    version,
  });
}

/** The reverse of `printStateEdit`. */
export function parseStateEdit(text: string): StateEdit {
  const { pairs, version } = JSON.parse(text) as {
    pairs: [name: string, value: string][];
    version?: string;
  };
  const edit = { pairs: pairs.map(([name, digits]) => ({ name, value: bytesOf(digits) })) };
  return version === undefined ? edit : { ...edit, version };
}

function bytesOf(digits: string): Uint8Array {
  const bytes = fromBase64(digits);
  assert(bytes, "A stored edit was printed by us");
  return bytes;
}

const encoder = new TextEncoder();
const NAME = 1, VALUE = 2, END = 3;

/**
 * The version of a state: clients compute the same from the state that they have read
 * (docs/spec/admin.md#state-of-an-object). Over the entries in the order of their names' bytes:
 * place (u64, big endian), 1, name, 2, value, 3.
 */
export function stateVersion(pairs: readonly StateValue[]): string {
  const sorted = pairs.map(({ name, value }) => ({ name: encoder.encode(name), value }))
    .sort((a, b) => compare(a.name, b.name));
  const hash = sha256.create();
  for (const [place, { name, value }] of sorted.entries()) {
    const head = new Uint8Array(9);
    new DataView(head.buffer).setUint32(4, place);
    head[8] = NAME;
    hash.update(head).update(name).update(Uint8Array.of(VALUE)).update(value);
    hash.update(Uint8Array.of(END));
  }
  return toBase64(hash.digest());
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
