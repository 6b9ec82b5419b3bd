import type { Statement } from "../../src/ports.ts";

/** A batch on its way into workerd. Its values are plain. */
export interface Asked {
  readonly mode: "read" | "write";
  readonly statements: readonly (Omit<Statement, "args"> & { readonly args: readonly Plain[] })[];
}

/** What came of it. */
export type Answered =
  | { readonly results: readonly (readonly Readonly<Record<string, Plain>>[])[] }
  | { readonly message: string; readonly isRefused: boolean };

/** A value as JSON has it; bytes are a text of one character each. */
export type Plain = string | number | null | { readonly bytes: string };

export function toPlain(value: unknown): Plain {
  if (!(value instanceof Uint8Array)) return value as Plain;
  let bytes = "";
  for (const byte of value) bytes += String.fromCharCode(byte);
  return { bytes };
}

/** The bytes are a part of a larger buffer, as bytes often are. */
export function fromPlain(value: Plain): unknown {
  if (value === null || typeof value !== "object") return value;
  const { bytes } = value;
  const all = new Uint8Array(bytes.length + 2).fill(255);
  for (let i = 0; i < bytes.length; i++) all[i + 1] = bytes.charCodeAt(i);
  return all.subarray(1, -1);
}
