import type { Attempt } from "../../src/engine/effect.ts";
import type { Command } from "../../src/model/command.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import type { Entry } from "../../src/model/journal.ts";
import { type Ask, Canceled, Diverged, hash, plain } from "./sdk_words.ts";
import { commandBytes, type Spoken, spokenOf } from "./spoken.ts";
import { type Arrival, combined, keyOf, leavesOf, pruned, settled } from "./tree.ts";

interface Heard extends Arrival {
  readonly text: string;
}

const CANCEL = "s1";

/**
 * The journal of one attempt as an SDK sees it: commands that were recorded must be said again,
 * word for word, and what arrived is taken in the order of the journal. Everything the handler
 * learns flows into a digest that is part of every command, so that a wrong answer, or a right
 * one at a wrong place, makes a later replay diverge.
 */
export class Replay {
  /** Said and not yet sent. */
  frames: Command[] = [];
  readonly #recorded: readonly Spoken[];
  readonly #arrived = new Map<string, Heard[]>();
  /** How many arrivals of a leaf the handler has had. */
  readonly #taken = new Map<string, number>();
  #cursor = 0;
  #completions = 0;
  #digest = "";

  constructor({ entries }: Attempt) {
    this.#recorded = entries.flatMap((entry) =>
      entry.kind === "command" ? [spokenOf(entry.bytes)] : []
    );
    entries.forEach((entry, index) => this.learn(entry, index));
  }

  /** A short text of all that the handler knows. */
  get digest(): string {
    return this.#digest;
  }

  /** Whether everything that was recorded has been said again. */
  get isOver(): boolean {
    return this.#cursor >= this.#recorded.length;
  }

  nextCompletion(): number {
    return ++this.#completions;
  }

  /** Takes a notification in: from the journal at first, then from the stream. */
  learn(entry: Entry, at: number): void {
    if (entry.kind !== "notification") return;
    const { id, result } = entry, key = keyOf(id);
    const known = this.#arrived.get(key) ?? [];
    if (id.kind === "completion" && known.length > 0) throw new Diverged(`${key} came twice`);
    const text = JSON.stringify(plain(result));
    this.#arrived.set(key, [...known, { at, text, isFailure: result.kind === "failure" }]);
  }

  /** What came of a leaf and was not taken yet. */
  arrival(key: string): Heard | undefined {
    return this.#arrived.get(key)?.[this.#taken.get(key) ?? 0];
  }

  /** Whether whoever asks can go on. */
  isReady({ tree, isCancelable }: Ask & { kind: "await" }): boolean {
    return settled(tree, (key) => this.arrival(key)) !== undefined ||
      (isCancelable && this.arrival(CANCEL) !== undefined);
  }

  /** What a suspension says it waits for. Before version 7: any leaf, whatever the tree says. */
  awaiting({ tree, isCancelable }: Ask & { kind: "await" }, protocol: number): Awaiting {
    const left = pruned(tree, (key) => this.arrival(key));
    const cancel = isCancelable ? [CANCEL] : [];
    if (protocol < 7) return combined("unknown", [...leavesOf(left), ...cancel]);
    return isCancelable ? combined("first", cancel, [left]) : left;
  }

  /**
   * Waits until a tree is over, and tells when it was. Throws `Canceled` when a cancel came first,
   * by the order of the journal, which is the one that every replay sees.
   */
  *await(tree: Awaiting, { isCancelable } = { isCancelable: true }): Generator<Ask, Arrival> {
    const ask = { kind: "await", tree, isCancelable } as const;
    if (!this.isReady(ask)) yield ask;
    const over = settled(tree, (key) => this.arrival(key));
    const cancel = isCancelable ? this.arrival(CANCEL) : undefined;
    if (cancel && (!over || cancel.at < over.at)) {
      this.#take(CANCEL);
      throw new Canceled();
    }
    if (!over) throw new Error("Went on too early");
    return over;
  }

  /** Waits for one leaf and takes it: what came, as text. */
  *one(key: string, { isCancelable } = { isCancelable: true }): Generator<Ask, string> {
    yield* this.await(combined("first", [key]), { isCancelable });
    return this.take(key);
  }

  /** The callee that a completion tells, whether it was taken or not. */
  *invocationId(completion: number): Generator<Ask, string> {
    const key = `c${completion}`;
    if (!this.#arrived.has(key)) {
      yield* this.await(combined("first", [key]), { isCancelable: false });
    }
    return JSON.parse(this.#arrived.get(key)?.[0]?.text ?? "{}").id;
  }

  /** Takes what came of a leaf, as text. */
  take(key: string): string {
    const heard = this.arrival(key);
    if (!heard) throw new Error(`${key} has not arrived`);
    this.#take(key);
    return heard.text;
  }

  /** The handler has learned something. */
  saw(text: string): void {
    this.#digest = hash(this.#digest + text);
  }

  /** Whether the next recorded command is this one. Undefined: there is none. */
  recordedIs(is: string): boolean | undefined {
    const recorded = this.#recorded[this.#cursor];
    return recorded && recorded.is === `${is} ~${this.#digest}`;
  }

  /** A command: the recorded one when there is one, which must be the same, else a new frame. */
  say(what: string, told: Omit<Spoken, "is">, make: (bytes: Uint8Array) => Command): Spoken {
    const spoken = { is: `${what} ~${this.#digest}`, ...told };
    const recorded = this.#recorded[this.#cursor++];
    if (!recorded) {
      this.frames.push(make(commandBytes(spoken)));
      return spoken;
    }
    if (recorded.is !== spoken.is) {
      throw new Diverged(`"${spoken.is}" was "${recorded.is}" before`);
    }
    return recorded;
  }

  #take(key: string): void {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1);
  }
}
