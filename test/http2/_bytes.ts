import { Buffer } from "node:buffer";
import { concatBytes } from "../../src/bytes.ts";

/** Bytes of a text of hexadecimal digits. Spaces are ignored. */
export function hex(text: string): Uint8Array {
  return Uint8Array.from(text.replaceAll(/\s/g, "").match(/../g) ?? [], (two) => parseInt(two, 16));
}

/** Each character is one byte. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

export function join(...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  return concatBytes(parts.map((part) => Uint8Array.from(part)));
}

/** Each byte as one character. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
