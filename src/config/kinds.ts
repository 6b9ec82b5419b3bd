import {
  array,
  boolean,
  coerce,
  enums,
  integer,
  max,
  min,
  nonempty,
  number,
  pattern as matching,
  refine,
  string,
  type Struct,
  unknown,
  validate,
} from "superstruct";
import { BadDuration, parseDuration, printDuration } from "../model/duration.ts";
import { parseByteSize, printByteSize } from "./byte_size.ts";
import { parseList } from "./toml.ts";

/** A kind of value: how it is read from what people type, and printed the way they type it. */
export interface Kind<T> {
  /** What it accepts, in words: ends the sentence "x is not …". */
  readonly expected: string;
  /** A text from the environment or a flag, or a value of a file. Undefined: not of this kind. */
  read(given: unknown): T | undefined;
  /** What exactly is wrong with a value that `read` does not accept, where that can be told. */
  why?(given: unknown): string | undefined;
  print(value: T): string;
}

/** Text is turned into a value by `parse`; whatever comes of it is then judged by `struct`. */
function kind<T>(
  expected: string,
  struct: Struct<T, unknown>,
  { parse, print }: { parse: (given: unknown) => unknown; print: (value: T) => string },
): Kind<T> {
  const reader = coerce(struct, unknown(), parse);
  return {
    expected,
    read: (given) => validate(given, reader, { coerce: true })[1],
    print,
  };
}

/** Applies `parse` to text and leaves everything else as it is. */
function ofText(parse: (text: string) => unknown): (given: unknown) => unknown {
  return (given) => typeof given === "string" ? parse(given.trim()) : given;
}

/**
 * A duration with a unit (docs/spec/ingress.md#durations), in whole milliseconds. `leastMs`: the
 * shortest allowed.
 */
export function duration(leastMs = 0): Kind<number> {
  const least = leastMs === 0 ? "" : ` of at least ${printDuration(leastMs)}`;
  return kind(`a duration${least}, such as "10s" or "1h 30m"`, min(integer(), leastMs), {
    parse: parseMs,
    print: printDuration,
  });
}

/**
 * A duration with a unit, in whole milliseconds, or `unlimited`, which reads as `Infinity`. `leastMs`: the
 * shortest allowed.
 */
export function durationOrUnlimited(leastMs = 0): Kind<number> {
  const least = leastMs === 0 ? "" : ` of at least ${printDuration(leastMs)}`;
  return kind(
    `a duration${least}, such as "10s" or "1h 30m", or "${UNLIMITED}"`,
    min(wholeOrInfinite(), leastMs),
    {
      parse: (given) => isUnlimited(given) ? Infinity : parseMs(given),
      print: (value) => value === Infinity ? UNLIMITED : printDuration(value),
    },
  );
}

/** A bare number other than 0 has no unit, and a guessed unit is how outages are made. */
function parseMs(given: unknown): number | undefined {
  if (given === 0) return 0;
  if (typeof given !== "string") return undefined;
  try {
    return parseDuration(given.trim());
  } catch (cause) {
    if (cause instanceof BadDuration) return undefined;
    throw cause;
  }
}

/** A size in bytes: `32MiB`, `1KB` or a plain number of bytes. */
export function byteSize(least = 1): Kind<number> {
  const atLeast = least === 0 ? "" : ` of at least ${printByteSize(least)}`;
  return kind(`a size in bytes${atLeast}, such as "32MiB" or "512KB"`, min(integer(), least), {
    parse: ofText(parseByteSize),
    print: printByteSize,
  });
}

/** A whole number from `least` to `most`. */
export function count(least: number, most = Number.MAX_SAFE_INTEGER): Kind<number> {
  const expected = most === Number.MAX_SAFE_INTEGER
    ? `a whole number from ${least}`
    : `a whole number from ${least} to ${most}`;
  return kind(expected, max(min(integer(), least), most), {
    parse: ofText(parseCount),
    print: String,
  });
}

/** A whole number from `least`, or `unlimited`, which reads as `Infinity`. */
export function countOrUnlimited(least: number): Kind<number> {
  return kind(`a whole number from ${least}, or "${UNLIMITED}"`, min(wholeOrInfinite(), least), {
    parse: ofText((text) => isUnlimited(text) ? Infinity : parseCount(text)),
    print: (value) => value === Infinity ? UNLIMITED : String(value),
  });
}

/** A whole number from `least` to `most`, or `auto`, which reads as 0. */
export function countOrAuto(least: number, most: number): Kind<number> {
  const struct = refine(max(min(integer(), 0), most), "count", (n) => n === 0 || n >= least);
  return kind(`a whole number from ${least} to ${most}, or "${AUTO}"`, struct, {
    parse: (given) => isAuto(given) ? 0 : ofText(parseCount)(given) || undefined,
    print: (value) => value === 0 ? AUTO : String(value),
  });
}

/** Leaves a setting to the server. */
export const AUTO = "auto";

function isAuto(given: unknown): boolean {
  return typeof given === "string" && given.trim().toLowerCase() === AUTO;
}

const UNLIMITED = "unlimited";

function isUnlimited(given: unknown): boolean {
  return typeof given === "string" && given.trim() === UNLIMITED;
}

function wholeOrInfinite(): Struct<number, null> {
  return refine(
    number(),
    "whole",
    (value) => value === Infinity || Number.isSafeInteger(value),
  );
}

function parseCount(text: string): number | undefined {
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A number that need not be whole, from `least`. */
export function ratio(least: number): Kind<number> {
  return kind(`a number from ${least}`, max(min(number(), least), Number.MAX_VALUE), {
    parse: ofText((text) => /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined),
    print: String,
  });
}

/** `true` or `false`. */
export function flag(): Kind<boolean> {
  return kind("true or false", boolean(), {
    parse: ofText((text) => text === "true" ? true : text === "false" ? false : undefined),
    print: String,
  });
}

/** A text that is not empty. Taken as it is, spaces included. `pattern`: what it must look like. */
export function text(
  expected = "a text of at least one character",
  pattern?: RegExp,
): Kind<string> {
  const some = nonempty(string());
  const struct = pattern ? matching(some, pattern) : some;
  return kind(expected, struct, { parse: (given) => given, print: (value) => value });
}

/**
 * A text that may be empty, which says that there is none. Taken as it is, spaces included.
 * `pattern`: what it must look like, empty or not.
 */
export function optionalText(expected: string, pattern?: RegExp): Kind<string> {
  const struct = pattern ? matching(string(), pattern) : string();
  return kind(expected, struct, { parse: (given) => given, print: (value) => value });
}

/** A URL that may be empty, which says that there is none. */
export function optionalUrl(): Kind<string> {
  const isUrl = (value: string) => value === "" || /^https?:/.test(value) && hasNoUser(value);
  return kind("an http or https URL without a user, or nothing", refine(string(), "URL", isUrl), {
    parse: (given) => given,
    print: (value) => value,
  });
}

/** Addresses are logged and shown, and requests do not show a user of theirs. */
function hasNoUser(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

/** One of a few words. */
export function choice<const T extends string>(...words: readonly T[]): Kind<T> {
  const expected = words.length === 1
    ? `"${words[0]}"`
    : `one of ${words.map((word) => `"${word}"`).join(", ")}`;
  return kind(expected, enums(words) as unknown as Struct<T, unknown>, {
    parse: ofText((word) => word),
    print: (word) => word,
  });
}

const HEADER_NAME = /^[!#$%&'+.^_`|~0-9a-z-]*(\*|[!#$%&'+.^_`|~0-9a-z-])$/i;

/** Any number of names of headers, each with at most one `*`, at its end. */
export function headerNames(): Kind<readonly string[]> {
  const { print } = texts();
  return kind<readonly string[]>(
    `a list of names of headers such as ["cookie", "x-internal-*"]`,
    array(matching(string(), HEADER_NAME)) as unknown as Struct<readonly string[], unknown>,
    { parse: ofText(parseList), print },
  );
}

/** Any number of texts. In the environment and on a flag spelled as in a file: `["a", "b"]`. */
export function texts(): Kind<readonly string[]> {
  return kind<readonly string[]>(
    `a list such as ["a", "b"]`,
    array(string()) as unknown as Struct<readonly string[], unknown>,
    {
      parse: ofText(parseList),
      print: (list) => `[${list.map((one) => JSON.stringify(one)).join(", ")}]`,
    },
  );
}
