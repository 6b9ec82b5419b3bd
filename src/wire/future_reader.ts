import { Failure } from "../errors.ts";
import { decide, type Ending, exhausted } from "../model/awaiting.ts";
import type { Awaiting, Combinator } from "../model/invocation.ts";
import { type FieldReader, fieldSet, lengthTag, numberTag, Undecodable } from "./field_reader.ts";

const COMPLETIONS = 1;
const SIGNALS = 2;
const NAMES = lengthTag(3);
const NESTED = lengthTag(4);
const COMBINATOR = numberTag(5);
const FIELDS = fieldSet(1, 2, 3, 4, 5);

/** Numbers of the protocol (docs/spec/service-protocol.md#values). Others mean what 0 means. */
const COMBINATORS: readonly Combinator[] = ["unknown", "first", "allCompleted", "any", "all"];

/** Reading, waking and storing recurse over the levels: at about 2500 the first runs out of stack. */
const DEPTH_MAX = 1000;

/** What is read of one combinator so far. */
interface Future {
  kind: Combinator;
  readonly completions: number[];
  readonly signals: number[];
  readonly names: string[];
  nested?: Future[];
}

/**
 * The tree of futures that a suspension awaits. Call `read` for each field that holds a part of
 * it, or `readLeaf` for each field of a flat one; then take it with `finish`.
 */
export class FutureReader {
  readonly #reader: FieldReader;
  readonly #depthMax: number;
  readonly #root = newFuture();
  #hasEmptyOnes = false;

  /** `depthMax`: levels beneath the root, as the reference counts. More than 1000 count as 1000. */
  constructor(reader: FieldReader, depthMax: number) {
    this.#reader = reader;
    this.#depthMax = Math.min(depthMax, DEPTH_MAX);
  }

  /** Reads a `Future`. One that comes twice is merged. Throws `Failure` RT0025. */
  read(): void {
    this.#readInto(this.#root, 0);
  }

  /** Reads fields 1 to 3, which a flat suspension and a future share. False: another field. */
  readLeaf(tag: number): boolean {
    return this.#readLeaf(this.#root, tag);
  }

  /** What is left to wait for; no combinator in it is empty. Throws `Undecodable` if nothing is. */
  finish(): Awaiting {
    const root = this.#root;
    const isOver = this.#hasEmptyOnes ? endingOf(root) !== undefined : isEmpty(root);
    if (isOver) throw new Undecodable("it awaits nothing");
    // What contains an empty combinator may end in ways that a pruned tree hides: better to wake
    // too early than too late.
    return this.#hasEmptyOnes ? flat(root, newFuture()) : root;
  }

  #readInto(future: Future, depth: number): void {
    const reader = this.#reader;
    if (depth > this.#depthMax) throw tooDeep(this.#depthMax);
    const outer = reader.enter();
    for (let tag = reader.next(); tag !== 0; tag = reader.next()) {
      if (tag === NESTED) this.#readNested(future, depth);
      else if (tag === COMBINATOR) future.kind = COMBINATORS[reader.uint32()] ?? "unknown";
      else if (!this.#readLeaf(future, tag)) reader.skip(tag, FIELDS);
    }
    reader.leave(outer);
  }

  #readNested(future: Future, depth: number): void {
    const child = newFuture();
    this.#readInto(child, depth + 1);
    if (isEmpty(child)) this.#hasEmptyOnes = true;
    (future.nested ??= []).push(child);
  }

  #readLeaf(future: Future, tag: number): boolean {
    switch (tag) {
      case lengthTag(COMPLETIONS):
      case numberTag(COMPLETIONS):
        readNumbers(this.#reader, future.completions, tag);
        return true;
      case lengthTag(SIGNALS):
      case numberTag(SIGNALS):
        readNumbers(this.#reader, future.signals, tag);
        return true;
      case NAMES:
        future.names.push(this.#reader.string());
        return true;
      default:
        return false;
    }
  }
}

function newFuture(): Future {
  return { kind: "unknown", completions: [], signals: [], names: [] };
}

/** Repeated numbers come packed, or (readers must allow it) one by one. */
function readNumbers(reader: FieldReader, numbers: number[], tag: number): void {
  if (tag === numberTag(tag >>> 3)) {
    numbers.push(reader.uint32());
    return;
  }
  const outer = reader.enter();
  while (!reader.atEnd) numbers.push(reader.uint32());
  reader.leave(outer);
}

/**
 * How a tree with empty combinators, which no SDK should send, has ended, or that it never will:
 * an empty `all` has succeeded, an empty `any` has failed, and an empty `first` never ends (as
 * in JavaScript's promises). Undefined: there is something to wait for.
 */
function endingOf(future: Future): Ending | "never" | undefined {
  let isOpen = !isEmpty({ ...future, nested: [] });
  let isStuck = future.kind === "unknown" || future.kind === "first";
  for (const child of future.nested ?? []) {
    const ended = endingOf(child);
    if (ended === undefined) isOpen = true;
    else if (ended === "never") isStuck = true;
    else {
      const ending = decide(future, ended);
      if (ending) return ending;
    }
  }
  if (isOpen) return undefined;
  return isStuck ? "never" : exhausted(future);
}

/** Every leaf of a tree, in one node that any of them ends. */
function flat(tree: Future, into: Future): Future {
  into.completions.push(...tree.completions);
  into.signals.push(...tree.signals);
  into.names.push(...tree.names);
  for (const child of tree.nested ?? []) flat(child, into);
  return into;
}

function isEmpty({ completions, signals, names, nested }: Awaiting): boolean {
  return completions.length + signals.length + names.length + (nested?.length ?? 0) === 0;
}

/** The words clients know (docs/spec/admin.md#error-codes). */
function tooDeep(depthMax: number): Failure {
  return new Failure(
    "RT0025",
    `maximum awaited future depth limit of ${depthMax} has been reached.`,
  );
}
