import { parse, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { Failure } from "../errors.ts";

export interface TomlEntry {
  /** Sections and key, joined by dots. A part that is no bare key is in quotes. */
  readonly key: string;
  /** Anything but a table. */
  readonly value: Exclude<TomlValue, TomlTable>;
  /** Where its value begins, counted from 1. Reads the text again: for messages alone. */
  readonly line: () => number;
}

/**
 * Reads a config file in TOML 1.0: every key with its value, whichever way its tables are written.
 * Throws `Failure` RT0002 with the line, and without the text of the line: it may hold a secret.
 */
export function parseToml(text: string): TomlEntry[] {
  const toml = text.replace(/^\uFEFF/, "");
  try {
    return [...entriesOf(parse(toml), [], toml)];
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new Failure(
      "RT0002",
      `Cannot read line ${cause.line} of the config file: ${
        whyOf(cause)
      } at column ${cause.column}`,
      { cause },
    );
  }
}

/** The first line of what the parser says; the others show the file. */
function whyOf({ message }: TomlError): string {
  const [first = ""] = message.split("\n");
  return first.replace("Invalid TOML document: ", "");
}

function* entriesOf(
  table: TomlTable,
  above: readonly string[],
  toml: string,
): Generator<TomlEntry> {
  for (const [name, value] of Object.entries(table)) {
    const path = [...above, name];
    if (isTable(value)) yield* entriesOf(value, path, toml);
    else {
      yield { key: path.map(spelled).join("."), value, line: () => lineOf(path, toml) };
    }
  }
}

function isTable(value: TomlValue): value is TomlTable {
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date);
}

/** A dot within a name is not one between names. */
function spelled(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

/**
 * Where the value of a key begins. The parser does not tell, so the text is read up to the end of one
 * line after the other: the key is in the first part that has it, behind the longest part before that
 * which could be read.
 */
function lineOf(path: readonly string[], toml: string): number {
  const lines = toml.split("\n");
  let begin = 1;
  for (let end = 1; end < lines.length; end++) {
    const part = readable(`${lines.slice(0, end).join("\n")}\n`);
    if (part && has(part, path)) break;
    if (part) begin = end + 1;
  }
  return begin;
}

/** Undefined: the text ends within a value. */
function readable(toml: string): TomlTable | undefined {
  try {
    return parse(toml);
  } catch {
    return undefined;
  }
}

function has(table: TomlTable, path: readonly string[]): boolean {
  let value: TomlValue | undefined = table;
  for (const name of path) {
    if (value === undefined || !isTable(value) || !Object.hasOwn(value, name)) return false;
    value = value[name];
  }
  return true;
}

/** A list as a file spells it: `["a", "b"]`. Undefined: not one. */
export function parseList(text: string): readonly unknown[] | undefined {
  const table = readable(`list = ${text}`);
  const { list } = table ?? {};
  return Array.isArray(list) && Object.keys(table ?? {}).length === 1 ? list : undefined;
}
