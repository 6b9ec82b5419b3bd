/** Whether a character, by its code, is one of a set. */
export type Chars = (code: number) => boolean;

/** A part of an expression. `at`: takes no character; `edge` is `\b`, and `inside` is `\B`. */
export type Part =
  | { readonly kind: "one"; readonly of: Chars }
  | { readonly kind: "at"; readonly place: "start" | "end" | "edge" | "inside" }
  | { readonly kind: "all"; readonly of: readonly Part[] }
  | { readonly kind: "any"; readonly of: readonly Part[] }
  | {
    readonly kind: "repeat";
    readonly of: Part;
    readonly least: number;
    /** May be infinite. */
    readonly most: number;
  };

const DEPTH_MAX = 100;

/** Sets that have a name, in and out of brackets. */
const NAMED: Readonly<Record<string, Chars>> = Object.fromEntries(
  ["d", "D", "w", "W", "s", "S"].map((name) => {
    const set = new RegExp(`\\${name}`);
    return [name, (code: number) => set.test(String.fromCharCode(code))];
  }),
);
const ANY: Chars = (code) => !/[\n\r\u2028\u2029]/.test(String.fromCharCode(code));
const CONTROLS: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  r: "\r",
  f: "\f",
  v: "\v",
  "0": "\0",
};

/** Reads a text that is known to be a regular expression of JavaScript without flags. */
export class ExpressionReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Throws a `SyntaxError` for what needs to go back, or is nested too deeply. */
  read(): Part {
    return this.#any();
  }

  #take(text: string): boolean {
    const isThere = this.#text.startsWith(text, this.#at);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  /** What a sticky pattern finds here. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text) ?? undefined;
    if (found) this.#at += found[0].length;
    return found;
  }

  #any(): Part {
    const of = [this.#all()];
    while (this.#take("|")) of.push(this.#all());
    return { kind: "any", of };
  }

  #all(): Part {
    const of: Part[] = [];
    while (this.#at < this.#text.length && !/[|)]/.test(this.#text.charAt(this.#at))) {
      of.push(this.#repeated(this.#one()));
    }
    return { kind: "all", of };
  }

  #repeated(of: Part): Part {
    const found = this.#match(/(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y);
    if (!found) return of;
    const [, sign, low, comma, high] = found;
    if (sign) {
      return { kind: "repeat", of, least: +(sign === "+"), most: sign === "?" ? 1 : Infinity };
    }
    const least = Number(low);
    return { kind: "repeat", of, least, most: !comma ? least : high ? Number(high) : Infinity };
  }

  #one(): Part {
    if (this.#take("^")) return { kind: "at", place: "start" };
    if (this.#take("$")) return { kind: "at", place: "end" };
    if (this.#take(".")) return { kind: "one", of: ANY };
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return { kind: "one", of: this.#brackets() };
    if (!this.#take("\\")) return { kind: "one", of: only(this.#next()) };
    if (this.#take("b")) return { kind: "at", place: "edge" };
    if (this.#take("B")) return { kind: "at", place: "inside" };
    if (this.#match(/[1-9]|k/y)) throw new SyntaxError("It refers to what was matched before");
    return { kind: "one", of: this.#escaped() };
  }

  #group(): Part {
    if (this.#match(/\?<?[=!]/y)) throw new SyntaxError("It looks ahead or behind");
    if (this.#text.startsWith("?", this.#at) && !this.#match(/\?:|\?<[^>]*>/y)) {
      throw new SyntaxError("It has a group of an unknown kind");
    }
    if (++this.#depth > DEPTH_MAX) throw new SyntaxError("It has too many groups within groups");
    const of = this.#any();
    this.#depth--;
    this.#take(")");
    return of;
  }

  /** Behind a `[`, up to its `]`. */
  #brackets(): Chars {
    const isNegated = this.#take("^");
    const sets: Chars[] = [];
    while (!this.#take("]")) {
      const from = this.#member();
      // In front of the end, or beside a set, a hyphen is itself.
      const to = this.#match(/-(?=[^\]])/y) ? this.#member() : undefined;
      if (typeof from === "number" && typeof to === "number") {
        sets.push((code) => code >= from && code <= to);
      } else {
        const members = to === undefined ? [from] : [from, HYPHEN, to];
        sets.push(...members.map((one) => typeof one === "number" ? only(one) : one));
      }
    }
    return (code) => sets.some((set) => set(code)) !== isNegated;
  }

  /** One character of brackets, or a set with a name. */
  #member(): number | Chars {
    if (!this.#take("\\")) return this.#next();
    if (this.#take("b")) return BACKSPACE;
    return this.#escapedCode() ?? this.#named();
  }

  #escaped(): Chars {
    const code = this.#escapedCode();
    return code === undefined ? this.#named() : only(code);
  }

  #named(): Chars {
    const name = String.fromCharCode(this.#next());
    return NAMED[name]!;
  }

  /** Undefined: a set with a name follows. */
  #escapedCode(): number | undefined {
    const hex = this.#match(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y);
    if (hex) return parseInt(hex[1] ?? hex[2] ?? "", 16);
    if (this.#match(/c|[1-9]|0[0-9]/y)) {
      throw new SyntaxError("It has a character by an old escape");
    }
    const name = this.#text.charAt(this.#at);
    if (Object.hasOwn(NAMED, name)) return undefined;
    const code = this.#next();
    return Object.hasOwn(CONTROLS, name) ? CONTROLS[name]!.charCodeAt(0) : code;
  }

  #next(): number {
    return this.#text.charCodeAt(this.#at++);
  }
}

const HYPHEN = 45;
const BACKSPACE = 8;

function only(code: number): Chars {
  return (other) => other === code;
}
