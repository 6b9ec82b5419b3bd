import process from "node:process";
import { styleText } from "node:util";
import type { CommandFailure } from "./failure.ts";

type Color = "bold" | "dim" | "green" | "red" | "yellow";

/** Paints a text where people read it: on a terminal, unless NO_COLOR is set. */
export function paint(color: Color, text: string, stream: NodeJS.WriteStream = process.stdout) {
  const isPlain = stream.isTTY !== true || (process.env["NO_COLOR"] ?? "") !== "";
  return isPlain ? text : styleText(color, text);
}

/** Prints the result of a command: as JSON on one line, or as `text` says it to people. */
export function print(isJson: boolean, result: unknown, text: () => string): void {
  const line = isJson ? JSON.stringify(result) : text();
  process.stdout.write(line === "" ? "" : `${line}\n`);
}

/** Prints why a command failed to standard error: as JSON on one line, or as a sentence. */
export function printFailure(isJson: boolean, { message, code }: CommandFailure): void {
  if (isJson) {
    process.stderr.write(`${JSON.stringify({ error: { message, ...(code && { code }) } })}\n`);
    return;
  }
  process.stderr.write(`${paint("red", "error:", process.stderr)} ${message}\n`);
}

/** Wider cells of a table are cut off, for people only. */
const CELL_MAX = 60;

/** Rows as a table of columns, with their names above it. `columns`: those, in this order. */
export function table(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[] = columnsOf(rows),
): string {
  if (rows.length === 0) return paint("dim", "(no rows)");
  const cells = rows.map((row) => columns.map((name) => cellOf(row[name])));
  const widths = columns.map((name, at) =>
    Math.max(name.length, ...cells.map((line) => line[at]?.length ?? 0))
  );
  const lineOf = (line: readonly string[]) =>
    line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ").trimEnd();
  return [paint("bold", lineOf(columns)), ...cells.map(lineOf)].join("\n");
}

/** Fields that are null are left out of rows: the columns are those of all rows. */
function columnsOf(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const line = visible(text);
  return line.length > CELL_MAX ? `${line.slice(0, CELL_MAX - 1)}…` : line;
}

/** What handlers and callers wrote could move the cursor or change colors: shown as escapes. */
export function visible(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\x00-\x1f\x7f-\x9f]/g, (one) => JSON.stringify(one).slice(1, -1));
}
