import { unsupportedAt, wrongAt } from "./position.ts";

/** A piece of a statement. `at`: where it begins, in UTF-16 units from 0. */
export interface Token {
  readonly kind:
    /** Without quotes: a keyword or a name, in lower case. */
    | "word"
    /** A name that was quoted, as it stands between its quotes. */
    | "name"
    | "text"
    /** Digits, perhaps a point and an exponent. */
    | "number"
    /** The hexadecimal digits of `x'…'`, an even number of them. */
    | "bytes"
    | "symbol"
    | "end";
  readonly text: string;
  readonly at: number;
}

const BLANK = /(?:\s|--[^\n]*)+/y;
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_$]*/uy;
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy;
const NUMBER_GOES_ON = /[\p{L}\p{N}_.]+/uy;
const TEXT = /'[^']*'(?:'[^']*')*/y;
/** With a backslash before what would mean something else. */
const ESCAPED = /'[^'\\]*(?:(?:\\[^]|'')[^'\\]*)*'/y;
const NAME = /"[^"]*"(?:"[^"]*")*/y;
const DOLLARS = /\$(?:[\p{L}_][\p{L}\p{N}_]*)?\$/uy;
/** The longest first. */
const SYMBOL =
  /->>|<=>|#>>|!~\*|->|#>|#-|@>|<@|@@|\|\||&&|<<|>>|<>|<=|>=|!=|==|=>|::|:=|!~|~\*|[-+*/%<>=&|^#@!?~(),.;:[\]{}]/y;

/**
 * A statement in pieces, without blanks and comments, an "end" behind them. Words and texts are
 * those of PostgreSQL (PostgreSQL's manual, section 4.1). Throws a `Failure` 400 that says where,
 * for what is no piece of SQL.
 */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = skipBlank(sql, 0);
  while (at < sql.length) {
    const { token, end } = readToken(sql, at);
    tokens.push(token);
    at = skipBlank(sql, end);
  }
  tokens.push({ kind: "end", text: "", at });
  return tokens;
}

/** A token, and where the next one may begin. */
interface Read {
  readonly token: Token;
  readonly end: number;
}

function readToken(sql: string, at: number): Read {
  const first = sql[at];
  if (first === "'") return readQuoted(sql, at, "text");
  if (first === '"') return readQuoted(sql, at, "name");
  const word = match(WORD, sql, at);
  if (word !== undefined) return readWord(sql, at, word);
  const number = match(NUMBER, sql, at);
  if (number !== undefined) return readNumber(sql, at, number);
  if (first === "$") return readDollars(sql, at);
  const symbol = match(SYMBOL, sql, at);
  if (symbol === undefined) throw wrongAt(sql, at, `Unexpected "${sql.slice(at, at + 2)}"`);
  return { token: { kind: "symbol", text: symbol, at }, end: at + symbol.length };
}

/** What stands between quotes; a quote within is there twice. */
function readQuoted(sql: string, at: number, kind: "text" | "name"): Read {
  const whole = match(kind === "text" ? TEXT : NAME, sql, at);
  if (whole === undefined) throw wrongAt(sql, at, `A ${kind} does not end`);
  const quote = whole[0] ?? "";
  const text = whole.slice(1, -1).replaceAll(quote + quote, quote);
  return { token: { kind, text, at }, end: at + whole.length };
}

/** A word, or the letter that stands before a text of a special kind. */
function readWord(sql: string, at: number, word: string): Read {
  const end = at + word.length;
  const text = word.toLowerCase();
  if (sql[end] === "'") {
    if (text === "x") return readBytes(sql, at);
    if (text === "e") return readEscaped(sql, at);
  }
  if (/^(?:[bn]'|u&['"])/i.test(sql.slice(at, at + 3))) {
    throw unsupportedAt(sql, at, `a text with "${word}" before it`);
  }
  return { token: { kind: "word", text, at }, end };
}

/** `x'00ff'`. */
function readBytes(sql: string, at: number): Read {
  const { token: { text }, end } = readQuoted(sql, at + 1, "text");
  if (!/^(?:[\da-f]{2})*$/i.test(text)) throw wrongAt(sql, at, "Bytes need pairs of hex digits");
  return { token: { kind: "bytes", text, at }, end };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** `E'…'`, in which letters behind a backslash stand for something. */
function readEscaped(sql: string, at: number): Read {
  const whole = match(ESCAPED, sql, at + 1);
  if (whole === undefined) throw wrongAt(sql, at, "A text does not end");
  const text = whole.slice(1, -1).replace(/''|\\([^])/g, (_, letter: string | undefined) => {
    if (letter === undefined) return "'";
    if (/[\dxu]/i.test(letter)) {
      throw unsupportedAt(sql, at, "a text with the number of a character");
    }
    return ESCAPES[letter] ?? letter;
  });
  return { token: { kind: "text", text, at }, end: at + 1 + whole.length };
}

function readNumber(sql: string, at: number, text: string): Read {
  const end = at + text.length;
  const more = match(NUMBER_GOES_ON, sql, end);
  if (more !== undefined) throw unsupportedAt(sql, at, `the number ${text}${more.slice(0, 20)}`);
  return { token: { kind: "number", text, at }, end };
}

/** `$tag$ a text as it stands $tag$`. */
function readDollars(sql: string, at: number): Read {
  const quote = match(DOLLARS, sql, at);
  if (quote === undefined) throw unsupportedAt(sql, at, "a parameter");
  const begin = at + quote.length;
  const end = sql.indexOf(quote, begin);
  if (end < 0) throw wrongAt(sql, at, "A text does not end");
  return { token: { kind: "text", text: sql.slice(begin, end), at }, end: end + quote.length };
}

function skipBlank(sql: string, at: number): number {
  for (;;) {
    const next = at + (match(BLANK, sql, at)?.length ?? 0);
    if (!sql.startsWith("/*", next)) return next;
    at = skipComment(sql, next);
  }
}

/** A comment may hold comments. */
function skipComment(sql: string, at: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = at;
  let depth = 0;
  for (let found = mark.exec(sql); found; found = mark.exec(sql)) {
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  throw wrongAt(sql, at, "A comment does not end");
}

function match(pattern: RegExp, sql: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0];
}
