import { futureJson, treeOf } from "./future_json.ts";
import type { ColumnType } from "../column_type.ts";
import { fromJson, fromSafe } from "../../storage/codec/safe_text.ts";

/** What comes out of the table of results: text only ever as bytes. */
export type Stored = bigint | number | string | null | Uint8Array;

/** A value as it is shown. Lists are of numbers or of texts. */
export type Cell = null | boolean | bigint | number | string | Uint8Array | readonly unknown[];

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A stored value as its type says. What the type does not fit, since SQLite's values know better than
 * their columns, is null. Integers stay exact; times and spans are in milliseconds.
 */
export function readCell(type: ColumnType, value: Stored): Cell {
  if (value === null) return null;
  switch (type) {
    case "bin":
      return value instanceof Uint8Array ? value : null;
    case "str":
      return fromSafe(textOf(value));
    case "raw":
      return value instanceof Uint8Array ? strictText(value) : String(value);
    case "future":
      return futureJson(treeOf(fromSafe(textOf(value))));
    case "key":
      return integerOf(textOf(value));
    case "u32s":
    case "strs":
      return listOf(textOf(value));
    case "bool":
      return numberOf(value) === undefined ? null : numberOf(value) !== 0;
    case "f64":
      return numberOf(value) ?? null;
    case "null":
      return null;
    default:
      return typeof value === "bigint" ? value : integerOf(String(numberOf(value) ?? ""));
  }
}

function textOf(value: Stored): string {
  return value instanceof Uint8Array ? lenient.decode(value) : String(value);
}

function strictText(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

function numberOf(value: Stored): number | undefined {
  const number = Number(value instanceof Uint8Array ? lenient.decode(value) : value);
  return Number.isFinite(number) ? number : undefined;
}

function integerOf(digits: string): bigint | null {
  const whole = /^-?\d{1,20}(?=\.\d+$|$)/.exec(digits);
  return whole ? BigInt(whole[0]) : null;
}

function listOf(json: string): readonly unknown[] | null {
  try {
    const list = fromJson(json);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
