import type { ColumnType } from "../column_type.ts";
import { type Cell, readCell } from "./cell.ts";
import {
  type AnswerColumn,
  type Format,
  printDuration,
  printInterval,
  printTime,
  type Row,
} from "./format.ts";

const encoder = new TextEncoder();

/**
 * `{"rows":[{…},…]}`: what is null is left out (docs/spec/queries.md#answers). `"warnings"` follow
 * the rows when there are any.
 */
export class JsonFormat implements Format {
  #columns: readonly { readonly key: string; readonly type: ColumnType }[] = [];
  #isFirst = true;
  readonly #warnings: readonly string[];

  constructor(warnings: readonly string[] = []) {
    this.#warnings = warnings;
  }

  begin(columns: readonly AnswerColumn[]): Uint8Array {
    this.#columns = columns.map(({ name, type }) => ({ key: JSON.stringify(name), type }));
    return encoder.encode('{"rows":[');
  }

  page(rows: readonly Row[]): Uint8Array {
    const begin = this.#isFirst ? "" : ",";
    if (rows.length > 0) this.#isFirst = false;
    return encoder.encode(begin + rows.map((row) => this.#row(row)).join(","));
  }

  end(): Uint8Array {
    const warnings = this.#warnings.length === 0
      ? ""
      : `,"warnings":${JSON.stringify(this.#warnings)}`;
    return encoder.encode(`]${warnings}}`);
  }

  #row(row: Row): string {
    const members: string[] = [];
    for (const [i, { key, type }] of this.#columns.entries()) {
      const json = printJson(type, readCell(type, row[i] ?? null));
      if (json !== undefined) members.push(`${key}:${json}`);
    }
    return `{${members.join(",")}}`;
  }
}

/** A value as JSON; undefined: it is null. */
function printJson(type: ColumnType, value: Cell): string | undefined {
  const shown = shownAs(type, value);
  if (shown === null) return undefined;
  switch (typeof shown) {
    case "bigint":
      return shown.toString();
    case "number":
      // A number with a fraction shows one.
      return Number.isInteger(shown) && Math.abs(shown) < 1e21 ? `${shown}.0` : String(shown);
    default:
      return JSON.stringify(shown instanceof Uint8Array ? hex(shown) : shown);
  }
}

function shownAs(type: ColumnType, value: Cell): Cell {
  switch (type) {
    case "ts":
      return printTime(value);
    case "now":
      return printTime(value)?.replace("Z", "") ?? null;
    case "dur":
      return printDuration(value);
    case "interval":
      return printInterval(value);
    default:
      return value;
  }
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}
