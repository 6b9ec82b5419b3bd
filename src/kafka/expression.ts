import { type Chars, ExpressionReader, type Part } from "./expression_reader.ts";

/** A regular expression over the names of topics. */
export interface Expression {
  /** Whether it is found anywhere in the text. Takes time for each character, and no more. */
  test(text: string): boolean;
}

/** Steps of a program: so many are looked at for each character of a name, at worst. */
const STEPS_MAX = 1_000;
/** Parts that are copied for `{n,m}`, also those that have no steps. */
const COPIES_MAX = 10_000;

type Step =
  | { readonly kind: "one"; readonly of: Chars }
  | { readonly kind: "at"; readonly place: "start" | "end" | "edge" | "inside" }
  | { readonly kind: "fork"; other: number }
  | { readonly kind: "go"; to: number }
  | { readonly kind: "found" };

/**
 * Reads an expression in the syntax of JavaScript, without what needs to go back: `\1`, `(?=`, `(?!`,
 * `(?<=`, `(?<!`. All ways to match are followed at once, so that no expression takes longer than others
 * of its length (decision 074). Throws a `SyntaxError` for one that is none, has these, or is too large.
 */
export function expressionOf(text: string): Expression {
  // Its messages are those that authors of expressions know.
  new RegExp(text);
  const program = new Program(new ExpressionReader(text).read());
  return { test: (name) => program.isFoundIn(name) };
}

class Program {
  readonly #steps: Step[] = [];
  #copies = 0;

  constructor(expression: Part) {
    this.#write(expression);
    this.#add({ kind: "found" });
  }

  #add<T extends Step>(step: T): T {
    if (this.#steps.length === STEPS_MAX) throw tooLarge();
    this.#steps.push(step);
    return step;
  }

  #write(node: Part): void {
    if (++this.#copies > COPIES_MAX) throw tooLarge();
    switch (node.kind) {
      case "one":
      case "at":
        return void this.#add(node);
      case "all":
        return node.of.forEach((one) => this.#write(one));
      case "any":
        return this.#writeAny(node.of);
      case "repeat":
        return this.#writeRepeat(node);
    }
  }

  #writeAny(nodes: readonly Part[]): void {
    const ends: { to: number }[] = [];
    for (const [index, node] of nodes.entries()) {
      const isLast = index === nodes.length - 1;
      const fork = isLast ? undefined : this.#add({ kind: "fork", other: 0 });
      this.#write(node);
      if (!fork) continue;
      ends.push(this.#add({ kind: "go", to: 0 }));
      fork.other = this.#steps.length;
    }
    for (const end of ends) end.to = this.#steps.length;
  }

  #writeRepeat({ of, least, most }: Part & { readonly kind: "repeat" }): void {
    for (let n = 0; n < least; n++) this.#write(of);
    if (most === Infinity) {
      const from = this.#steps.length;
      const fork = this.#add({ kind: "fork", other: 0 });
      this.#write(of);
      this.#add({ kind: "go", to: from });
      fork.other = this.#steps.length;
      return;
    }
    const forks: { other: number }[] = [];
    for (let n = least; n < most; n++) {
      forks.push(this.#add({ kind: "fork", other: 0 }));
      this.#write(of);
    }
    for (const fork of forks) fork.other = this.#steps.length;
  }

  isFoundIn(text: string): boolean {
    // Of each step, the place in the text at which it was entered last.
    const entered = new Int32Array(this.#steps.length).fill(-1);
    let now: number[] = [];
    for (let place = 0; place <= text.length; place++) {
      const next: number[] = [];
      if (this.#enter([...now, 0], { text, place, entered }, next)) return true;
      now = this.#pass(next, text.charCodeAt(place));
    }
    return false;
  }

  /** Follows steps that take no character. Answers whether it is found; else `reached` gets the others. */
  #enter(
    from: readonly number[],
    { text, place, entered }: Place,
    reached: number[],
  ): boolean {
    const open = from.toReversed();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (entered[at] === place) continue;
      entered[at] = place;
      const step = this.#steps[at]!;
      if (step.kind === "found") return true;
      if (step.kind === "one") reached.push(at);
      else if (step.kind === "go") open.push(step.to);
      else if (step.kind === "fork") open.push(step.other, at + 1);
      else if (isAt(step.place, text, place)) open.push(at + 1);
    }
    return false;
  }

  #pass(reached: readonly number[], code: number): number[] {
    return reached.filter((at) => {
      const step = this.#steps[at];
      return step?.kind === "one" && step.of(code);
    }).map((at) => at + 1);
  }
}

interface Place {
  readonly text: string;
  readonly place: number;
  readonly entered: Int32Array;
}

function isAt(what: "start" | "end" | "edge" | "inside", text: string, place: number): boolean {
  if (what === "start") return place === 0;
  if (what === "end") return place === text.length;
  const isEdge = /^\w/.test(text.charAt(place)) !== /^\w/.test(text.charAt(place - 1));
  return isEdge === (what === "edge");
}

function tooLarge(): SyntaxError {
  return new SyntaxError("It is too large, repetitions counted as often as they may come");
}
