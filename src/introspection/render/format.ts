import type { ColumnType } from "../column_type.ts";
import type { Cell, Stored } from "./cell.ts";

/** A column of an answer. */
export interface AnswerColumn {
  readonly name: string;
  readonly type: ColumnType;
  /**
   * Its text has offsets of 32 bits, as the reference sends what is no row of a table
   * (docs/spec/queries.md#answers).
   */
  readonly isShort?: boolean;
}

export type Row = readonly Stored[];

/** How an answer is written. Rows come in pages that fit into memory. */
export interface Format {
  begin(columns: readonly AnswerColumn[]): Uint8Array;
  page(rows: readonly Row[]): Uint8Array;
  end(): Uint8Array;
}

const TIME_MS_MAX = 8_640_000_000_000_000n;

/**
 * `2026-11-20T15:38:11.998Z`, without a fraction when it is zero (docs/spec/queries.md#answers).
 */
export function printTime(value: Cell): string | null {
  if (typeof value !== "bigint" || value > TIME_MS_MAX || value < -TIME_MS_MAX) return null;
  return new Date(Number(value)).toISOString().replace(".000Z", "Z");
}

/** `PT86400S`, `PT0.01S`, `-PT1S`, and `P0D` for nothing. */
export function printDuration(value: Cell): string | null {
  if (typeof value !== "bigint") return null;
  if (value === 0n) return "P0D";
  const [sign, ms] = value < 0n ? ["-", -value] : ["", value];
  const fraction = String(ms % 1000n).padStart(3, "0").replace(/0+$/, "");
  return `${sign}PT${ms / 1000n}${fraction && `.${fraction}`}S`;
}

const UNITS = [["days", 86_400_000n], ["hours", 3_600_000n], ["mins", 60_000n]] as const;

/** `1 days 2 hours`: an interval as the reference prints it. */
export function printInterval(value: Cell): string | null {
  if (typeof value !== "bigint") return null;
  let rest = value;
  const parts: string[] = [];
  for (const [name, ms] of UNITS) {
    if (rest / ms !== 0n) parts.push(`${rest / ms} ${name}`);
    rest %= ms;
  }
  if (rest !== 0n || parts.length === 0) parts.push(`${(Number(rest) / 1000).toFixed(9)} secs`);
  return parts.join(" ");
}
