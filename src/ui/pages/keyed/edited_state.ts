import { sha256 } from "@noble/hashes/sha2.js";
import type { StateRow } from "./statements.ts";

/** A value while it is edited. */
export interface Entry {
  readonly key: string;
  /** As it was read. Absent: it is new. */
  readonly before?: Uint8Array;
  /** As text. Absent: bytes that are no UTF-8, which can be kept or removed. */
  readonly text?: string;
  readonly isRemoved: boolean;
}

const encoder = new TextEncoder();

/** The entries of rows that have all their bytes. */
export function entriesOf(rows: readonly StateRow[]): Entry[] {
  return rows.map(({ key, value = "", value_utf8: text }) => ({
    key,
    before: bytesOf(value),
    ...(text !== undefined && { text }),
    isRemoved: false,
  }));
}

/** The bytes of their hexadecimal spelling. */
export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(
    { length: hex.length / 2 },
    (_, at) => parseInt(hex.substr(at * 2, 2), 16),
  );
}

/** Bytes as people read them: the first ones, hexadecimal. */
export function hexText(bytes: Uint8Array, max: number): string {
  const shown = [...bytes.subarray(0, max)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `0x${shown.join("")}${bytes.length > max ? "…" : ""}`;
}

/**
 * The version of a state: the server changes it only while it has this one. Base 64 of the SHA-256 over
 * the entries in the order of their names' bytes (docs/spec/admin.md#state-of-an-object).
 */
export function versionOf(entries: readonly Entry[]): string {
  const pairs = entries.filter(({ before }) => before !== undefined)
    .map(({ key, before }) => ({ name: encoder.encode(key), value: before! }))
    .toSorted((a, b) => compare(a.name, b.name));
  const hash = sha256.create();
  for (const [at, { name, value }] of pairs.entries()) {
    const place = new DataView(new ArrayBuffer(8));
    place.setBigUint64(0, BigInt(at));
    hash.update(new Uint8Array(place.buffer)).update(Uint8Array.of(1)).update(name)
      .update(Uint8Array.of(2)).update(value).update(Uint8Array.of(3));
  }
  const text = btoa(String.fromCharCode(...hash.digest()));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}

/** Bytes of a value that is no text, as far as an editor and its differences show them. */
export const HEX_MAX = 64;

/** What an edit changes. */
export interface Change {
  readonly kind: "added" | "changed" | "removed";
  readonly key: string;
  readonly before: string;
  readonly after: string;
}

/** What is different from what was read, by the names of entries. */
export function changesOf(entries: readonly Entry[]): Change[] {
  return entries.flatMap(({ key, before, text, isRemoved }): Change[] => {
    const was = before === undefined ? "" : textOf(before) ?? hexText(before, HEX_MAX);
    if (isRemoved) return before ? [{ kind: "removed", key, before: was, after: "" }] : [];
    if (text === undefined || (before && textOf(before) === text)) return [];
    return [{ kind: before ? "changed" : "added", key, before: was, after: text }];
  });
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The body that replaces a state: texts, and bytes where a value is no text. */
export function newStateOf(entries: readonly Entry[]): Record<string, string | number[]> {
  return Object.fromEntries(
    entries.filter(({ isRemoved }) => !isRemoved)
      .map(({ key, before, text }) => [key, text ?? [...before ?? []]] as const),
  );
}

/** Why entries cannot be sent. Undefined: they can. */
export function problemOf(entries: readonly Entry[]): string | undefined {
  const names = entries.filter(({ isRemoved }) => !isRemoved).map(({ key }) => key);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `Two entries are called “${twice}”`;
}
