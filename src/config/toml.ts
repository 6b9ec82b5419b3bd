import { Failure } from "../errors.ts";

/** What a key of a config file may hold. */
export type TomlValue = string | number | boolean | readonly string[];

export interface TomlEntry {
  /** Section and key, joined by dots. */
  readonly key: string;
  readonly value: TomlValue;
  /** Counted from 1. */
  readonly line: number;
}

const KEY = String.raw`[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*`;
// Not `.`, which excludes U+2028 and U+2029: they are ordinary characters in TOML.
const BLANK = /^\s*(#[^\r]*)?$/;
const SECTION = new RegExp(String.raw`^\s*\[(${KEY})\]\s*(?:#[^\r]*)?$`);
const ENTRY = new RegExp(String.raw`^\s*(${KEY})\s*=\s*([^\r]*)$`);
const NUMBER = /^[+-]?(0|[1-9](_?\d)*)(\.\d(_?\d)*)?([eE][+-]?\d+)?$/;
const VALUES = "a text in quotes, a number, true, false, or a list of texts on one line";

/**
 * Reads the part of TOML that settings need: comments, `[section]`, `key = value` with plain
 * dotted keys, and values on one line. What it accepts means the same in TOML 1.0; what it leaves
 * out (tables in lists, inline tables, dates, texts over several lines) it refuses. Throws
 * `Failure` RT0002 with the line, and the key where there is one.
 */
export function parseToml(text: string): TomlEntry[] {
  const entries = new Map<string, TomlEntry>();
  const sections = new Set<string>();
  let section = "";
  text.replace(/^\uFEFF/, "").split(/\r?\n/).forEach((content, index) => {
    const line = index + 1;
    if (BLANK.test(content)) return;
    const header = SECTION.exec(content)?.[1];
    if (header !== undefined) {
      if (sections.has(header)) throw refused(line, `section "${header}" stands there twice`);
      sections.add(header);
      section = `${header}.`;
      return;
    }
    const entry = readEntry(content, section, line);
    const first = entries.get(entry.key);
    if (first) throw refused(line, `key "${entry.key}" stands in line ${first.line} already`);
    entries.set(entry.key, entry);
  });
  return [...entries.values()];
}

function readEntry(content: string, section: string, line: number): TomlEntry {
  const match = ENTRY.exec(content);
  if (!match) throw refused(line, `expected "[section]" or "key = value"`);
  const key = section + match[1]!;
  const scanned = scanValue(match[2]!);
  if (!scanned || !BLANK.test(scanned.rest)) throw refused(line, `expected ${VALUES}`, key);
  return { key, value: scanned.value, line };
}

function refused(line: number, why: string, key?: string): Failure {
  const place = key === undefined ? "" : `key "${key}" in `;
  return new Failure("RT0002", `Cannot read ${place}line ${line} of the config file: ${why}`);
}

/** A list of texts as a file spells it: `["a", "b"]`. Undefined: not one. */
export function parseList(text: string): readonly string[] | undefined {
  const scanned = scanList(text);
  return scanned && scanned.rest.trim() === "" ? scanned.value : undefined;
}

interface Scanned<T> {
  readonly value: T;
  /** What stands behind the value. */
  readonly rest: string;
}

function scanValue(text: string): Scanned<TomlValue> | undefined {
  if (text.startsWith("[")) return scanList(text);
  if (text.startsWith('"') || text.startsWith("'")) return scanText(text);
  const word = /^[^\s#]*/.exec(text)![0];
  const rest = text.slice(word.length);
  if (word === "true" || word === "false") return { value: word === "true", rest };
  const value = NUMBER.test(word) ? Number(word.replaceAll("_", "")) : NaN;
  return Number.isFinite(value) ? { value, rest } : undefined;
}

function scanList(text: string): Scanned<readonly string[]> | undefined {
  if (!text.startsWith("[")) return undefined;
  const value: string[] = [];
  let rest = text.slice(1).trimStart();
  while (!rest.startsWith("]")) {
    const one = scanText(rest);
    if (!one) return undefined;
    value.push(one.value);
    rest = one.rest.trimStart();
    if (rest.startsWith(",")) rest = rest.slice(1).trimStart();
    else if (!rest.startsWith("]")) return undefined;
  }
  return { value, rest: rest.slice(1) };
}

/** `"with \n escapes"` or `'as it is'`. Three quotes begin a text over several lines: refused. */
function scanText(text: string): Scanned<string> | undefined {
  if (text.startsWith('"""') || text.startsWith("'''")) return undefined;
  const match = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/.exec(text);
  if (!match) return undefined;
  const value = match[2] ?? unescaped(match[1]!);
  return value === undefined ? undefined : { value, rest: text.slice(match[0].length) };
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  '"': '"',
  "\\": "\\",
};
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g;

function unescaped(text: string): string | undefined {
  let valid = true;
  const value = text.replace(ESCAPE, (_, short?: string, long?: string, simple?: string) => {
    const point = short ?? long;
    const known = point === undefined ? ESCAPES[simple!] : character(parseInt(point, 16));
    if (known === undefined) valid = false;
    return known ?? "";
  });
  return valid ? value : undefined;
}

/** Surrogates and what lies beyond Unicode are no characters, in TOML as elsewhere. */
function character(point: number): string | undefined {
  const isCharacter = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return isCharacter ? String.fromCodePoint(point) : undefined;
}
