import type { Failure } from "../../errors.ts";
import { cut, refused } from "../refusal.ts";
import { unsupportedAt, wrongAt } from "./position.ts";
import type { Token } from "./token.ts";

/** Parentheses, subqueries and the like within each other. The stack has room for far more. */
const DEPTH_MAX = 200;

/** A place within the pieces of a statement, moved on by those who read them. */
export class Cursor {
  readonly #sql: string;
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  /** `tokens`: pieces of `sql`, the last one an "end". */
  constructor(sql: string, tokens: readonly Token[]) {
    this.#sql = sql;
    this.#tokens = tokens;
  }

  /** The token so many places ahead; the end stands behind all of them. */
  peek(ahead = 0): Token {
    const token = this.#tokens[this.#index + ahead] ?? this.#tokens.at(-1);
    return token ?? { kind: "end", text: "", at: this.#sql.length };
  }

  /** The token here. Moves behind it. */
  next(): Token {
    const token = this.peek();
    this.#index++;
    return token;
  }

  /** Whether one of these keywords is so many places ahead. */
  isWord(words: string | ReadonlySet<string>, ahead = 0): boolean {
    const { kind, text } = this.peek(ahead);
    return kind === "word" && (typeof words === "string" ? text === words : words.has(text));
  }

  isSymbol(symbol: string, ahead = 0): boolean {
    const { kind, text } = this.peek(ahead);
    return kind === "symbol" && text === symbol;
  }

  /** Moves behind these keywords, if all of them are here. */
  takeWords(...words: readonly string[]): boolean {
    if (!words.every((word, ahead) => this.isWord(word, ahead))) return false;
    this.#index += words.length;
    return true;
  }

  /** Moves behind `word BY`. Throws a `Failure` 400 for the word without BY. */
  takeClause(word: "order" | "group" | "partition"): boolean {
    if (!this.takeWords(word)) return false;
    this.expectWord("by");
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.#index++;
    return true;
  }

  /** Throws a `Failure` 400 unless this keyword is here. */
  expectWord(word: string): void {
    if (!this.takeWords(word)) throw this.unexpected();
  }

  /** Throws a `Failure` 400 unless this symbol is here. */
  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.unexpected();
  }

  /** Any name, were it a keyword elsewhere. Throws a `Failure` 400 for what is none. */
  expectName(): string {
    if (!this.isName()) throw this.unexpected();
    return this.next().text;
  }

  isName(ahead = 0): boolean {
    const { kind } = this.peek(ahead);
    return kind === "word" || kind === "name";
  }

  /** One or more of something, commas between. */
  list<T>(read: (cursor: Cursor) => T): T[] {
    const items = [read(this)];
    while (this.takeSymbol(",")) items.push(read(this));
    return items;
  }

  /** Something in parentheses. */
  parens<T>(read: (cursor: Cursor) => T): T {
    this.expectSymbol("(");
    const inner = read(this);
    this.expectSymbol(")");
    return inner;
  }

  /** Reads one level deeper. Throws a `Failure` 400 when that is too deep. */
  nested<T>(read: () => T): T {
    if (this.#depth >= DEPTH_MAX) throw refused("Cannot run the query: it is nested too deep");
    this.#depth++;
    const inner = read();
    this.#depth--;
    return inner;
  }

  /** What is here belongs nowhere. */
  unexpected(): Failure {
    const { kind, text, at } = this.peek();
    const what = kind === "end" ? "Unexpected end" : `Unexpected "${cut(text)}"`;
    return wrongAt(this.#sql, at, what);
  }

  /** What is here, or the place before, is SQL and is not translated. `what` names it. */
  unsupported(what: string): Failure {
    return unsupportedAt(this.#sql, this.peek().at, what);
  }
}
