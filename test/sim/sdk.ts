import type { Attempt } from "../../src/engine/effect.ts";
import type { Command } from "../../src/model/command.ts";
import { CANCEL_SIGNAL, type Entry, type Result } from "../../src/model/journal.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import type { Op, Program, Stumble } from "./program.ts";
import { type Ask, asked, Diverged, failure, hash, plain, Stumbled } from "./sdk_words.ts";
import { bytesOf, fromBytes, type Spoken, textOf, toBytes } from "./spoken.ts";

/** What services are lent. */
export interface Outside {
  /** A number in [0, 1). */
  readonly chance: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * One attempt of a handler, in the manner of the real SDKs: it replays the journal it was given,
 * insists that its commands are those recorded, and then goes on with new ones. Everything it has
 * learned flows into a digest that is part of every command, so that a wrong answer, or a right
 * one at a wrong place, makes a later replay diverge.
 */
export class Sdk {
  /** Said and not yet sent. */
  frames: Command[] = [];
  readonly #outside: Outside;
  readonly #attempt: number;
  readonly #recorded: readonly Spoken[];
  readonly #program: Program;
  readonly #arrived = new Map<number, { readonly index: number; readonly text: string }>();
  readonly #state: Map<string, string | null>;
  #isPartial: boolean;
  #cursor = 0;
  #completions = 0;
  #digest = "";
  #later: number[] = [];

  constructor({ attempt, entries, state }: Attempt, outside: Outside) {
    this.#outside = outside;
    this.#attempt = attempt;
    const [input] = entries;
    if (input?.kind !== "input") throw new Diverged("A journal begins with its input");
    this.#program = fromBytes(input.value);
    this.#recorded = entries.flatMap((entry) =>
      entry.kind === "command" ? [fromBytes<Spoken>(entry.bytes)] : []
    );
    entries.forEach((entry, index) => this.learn(entry, index));
    this.#state = new Map(state?.pairs.map(({ name, value }) => [name, textOf(value)]));
    this.#isPartial = state?.partial ?? true;
  }

  hears(completion: number): boolean {
    return this.#arrived.has(completion);
  }

  /** Takes a notification in: from the journal at first, then from the stream. */
  learn(entry: Entry, index: number): void {
    if (entry.kind !== "notification" || entry.id.kind !== "completion") return;
    if (this.#arrived.has(entry.id.id)) throw new Diverged(`${entry.id.id} completed twice`);
    this.#arrived.set(entry.id.id, { index, text: JSON.stringify(plain(entry.result)) });
  }

  awaiting(any: readonly number[]): Awaiting {
    return { completions: any, signals: [CANCEL_SIGNAL], names: [] };
  }

  /** Runs the handler. Throws `Stumbled`, or `Diverged` when somebody broke a promise. */
  *run(): Generator<Ask, void> {
    for (const op of this.#program) {
      if (op.do === "fail") {
        return this.#output({ kind: "failure", failure: failure(this.#digest) });
      }
      yield* this.#op(op);
    }
    this.#output({ kind: "value", value: toBytes(this.#digest) });
  }

  *#op(op: Op): Generator<Ask, void> {
    switch (op.do) {
      case "run":
        return yield* this.#result(yield* this.#run(), op.later);
      case "sleep":
        return yield* this.#result(this.#sleep(op.ms), op.later);
      case "call":
        return yield* this.#result(this.#call(op), op.later);
      case "send":
        return yield* this.#result(this.#send(op), true);
      case "get":
        return this.#saw(String(yield* this.#get(op.key)));
      case "keys":
        return yield* this.#keys();
      case "add":
        return this.#set("n", String(Number((yield* this.#get("n")) ?? 0) + 1));
      case "set":
        return this.#set(op.key, `v${this.#digest}`);
      case "clear":
        return this.#clear(op.key);
      case "clearAll":
        return this.#clearAll();
      case "race":
      case "join":
        return yield* this.#settle(op.do);
      case "stumble":
        return yield* this.#stumble(op.attempts, op.how);
    }
  }

  *#run(): Generator<Ask, number> {
    const completion = ++this.#completions;
    this.#say(`run ${completion}`, { completion }, (bytes) => ({ kind: "run", bytes, completion }));
    if (this.hears(completion)) return completion;
    yield { kind: "work" };
    const luck = this.#outside.chance();
    const result: Result = luck < 0.2
      ? { kind: "failure", failure: { code: 500, message: `${luck}` } }
      : { kind: "value", value: bytesOf(`${this.#attempt}/${luck}`) };
    this.frames.push({ kind: "ranTo", completion, result });
    return completion;
  }

  #sleep(ms: number): number {
    const completion = ++this.#completions;
    const wakeAt = this.#outside.now() + ms;
    const is = `sleep ${ms} ${completion}`;
    this.#say(
      is,
      { x: wakeAt, completion },
      (bytes) => ({ kind: "sleep", bytes, completion, wakeAt }),
    );
    return completion;
  }

  #call({ to, program, idempotencyKey }: Op & { do: "call" }): number {
    const invocationIdCompletion = ++this.#completions, completion = ++this.#completions;
    const request = asked(to, program, idempotencyKey);
    this.#say(`call ${to} ${completion}`, { completion }, (bytes) => ({
      kind: "call",
      bytes,
      invocationIdCompletion,
      completion,
      request,
    }));
    return completion;
  }

  #send({ to, program, delayMs, idempotencyKey }: Op & { do: "send" }): number {
    const invocationIdCompletion = ++this.#completions;
    const startAt = delayMs === undefined ? 0 : this.#outside.now() + delayMs;
    const request = asked(to, program, idempotencyKey);
    this.#say(`send ${to} ${invocationIdCompletion}`, { x: startAt }, (bytes) => ({
      kind: "oneWayCall",
      bytes,
      invocationIdCompletion,
      startAt,
      request,
    }));
    return invocationIdCompletion;
  }

  /** From the map if it knows, else from the server; on replay, whence it came the first time. */
  *#get(key: string): Generator<Ask, string | null> {
    const completion = ++this.#completions;
    const known = this.#state.get(key) ?? null;
    const isKnown = this.#state.has(key) || !this.#isPartial;
    const eager = `getEager ${key}`, lazy = `getLazy ${key} ${completion}`;
    if (this.#recordedIs(eager) ?? isKnown) {
      const told = { x: known, key };
      return this.#say(eager, told, (bytes) => ({ kind: "getEagerState", bytes })) as string | null;
    }
    const told = { completion, key };
    this.#say(lazy, told, (bytes) => ({ kind: "getLazyState", bytes, key, completion }));
    const { result } = JSON.parse(yield* this.#await(completion));
    return result ?? null;
  }

  *#keys(): Generator<Ask, void> {
    const completion = ++this.#completions;
    const known = [...this.#state].flatMap(([key, value]) => value === null ? [] : [key]).sort();
    if (this.#recordedIs("getEagerKeys") ?? !this.#isPartial) {
      const x = JSON.stringify(known);
      const all = this.#say(
        "getEagerKeys",
        { x },
        (bytes) => ({ kind: "getEagerStateKeys", bytes }),
      );
      return this.#saw(String(all));
    }
    this.#say(`getLazyKeys ${completion}`, { completion }, (bytes) => ({
      kind: "getLazyStateKeys",
      bytes,
      completion,
    }));
    this.#saw(yield* this.#await(completion));
  }

  #set(key: string, value: string): void {
    this.#say(`set ${key}=${value}`, { key, value }, (bytes) => ({
      kind: "setState",
      bytes,
      key,
      value: bytesOf(value),
    }));
    this.#state.set(key, value);
  }

  #clear(key: string): void {
    this.#say(`clear ${key}`, { key }, (bytes) => ({ kind: "clearState", bytes, key }));
    this.#state.set(key, null);
  }

  #clearAll(): void {
    this.#say("clearAll", {}, (bytes) => ({ kind: "clearAllState", bytes }));
    this.#state.clear();
    this.#isPartial = false;
  }

  *#result(completion: number, later: boolean | undefined): Generator<Ask, void> {
    if (later) this.#later.push(completion);
    else this.#saw(yield* this.#await(completion));
  }

  *#await(completion: number): Generator<Ask, string> {
    if (!this.hears(completion)) yield { kind: "await", any: [completion] };
    return this.#text(completion);
  }

  /** A race is won by what stands first in the journal, which is what every replay will see. */
  *#settle(how: "race" | "join"): Generator<Ask, void> {
    const all = this.#later;
    if (all.length === 0) return;
    const missing = () => all.filter((one) => !this.hears(one));
    while (how === "race" ? missing().length === all.length : missing().length > 0) {
      yield { kind: "await", any: missing() };
    }
    const here = all.filter((one) => this.hears(one));
    const place = (one: number) => this.#arrived.get(one)?.index ?? 0;
    const [first = 0] = here.toSorted((a, b) => place(a) - place(b));
    this.#later = how === "race" ? all.filter((one) => one !== first) : [];
    if (how === "race") this.#saw(`${first}:${this.#text(first)}`);
    else for (const one of all) this.#saw(this.#text(one));
  }

  *#stumble(attempts: number, how: Stumble): Generator<Ask, void> {
    // The journal has gone past this point: whoever replays it stumbles no more.
    if (this.#attempt > attempts || this.#cursor < this.#recorded.length) return;
    if (how !== "refused") throw new Stumbled(how);
    const completion = ++this.#completions;
    const request = { ...asked("greeter/hi", []), service: "nobody" };
    const bytes = toBytes({ is: "refused" });
    const ids = { invocationIdCompletion: ++this.#completions, completion };
    // What comes behind it must not be stored either: no replay would say it.
    const never = { kind: "run", bytes: toBytes({ is: "never" }), completion: 1_000 } as const;
    this.frames.push({ kind: "call", bytes, ...ids, request }, never);
    yield { kind: "await", any: [completion] };
    throw new Diverged("A refused command was answered");
  }

  #output(result: Result): void {
    this.#say(`output ${result.kind}`, {}, (bytes) => ({ kind: "output", bytes, result }));
  }

  #text(completion: number): string {
    const arrival = this.#arrived.get(completion);
    if (!arrival) throw new Error(`${completion} has not arrived`);
    return arrival.text;
  }

  #saw(text: string): void {
    this.#digest = hash(this.#digest + text);
  }

  /** Whether the next recorded command is this one. Undefined: there is none. */
  #recordedIs(is: string): boolean | undefined {
    const recorded = this.#recorded[this.#cursor];
    return recorded && recorded.is === `${is} ~${this.#digest}`;
  }

  /** A command: the recorded one when there is one, which must be the same, else a new frame. */
  #say(what: string, told: Omit<Spoken, "is">, make: (bytes: Uint8Array) => Command): Spoken["x"] {
    const is = `${what} ~${this.#digest}`;
    const recorded = this.#recorded[this.#cursor++];
    if (!recorded) {
      this.frames.push(make(toBytes({ is, ...told })));
      return told.x;
    }
    if (recorded.is !== is) throw new Diverged(`"${is}" was "${recorded.is}" before`);
    return recorded.x;
  }
}
