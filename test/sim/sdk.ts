import type { Attempt } from "../../src/engine/effect.ts";
import type { Command } from "../../src/model/command.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import type { Entry, Result } from "../../src/model/journal.ts";
import type { Op, Program } from "./program.ts";
import { Replay } from "./replay.ts";
import { call, completePromise, promise, relate, send, signal } from "./sdk_others.ts";
import { State } from "./sdk_state.ts";
import { type Ask, asked, CANCELED, Canceled, Diverged, failure, Stumbled } from "./sdk_words.ts";
import { bytesOf, fromBytes, toBytes } from "./spoken.ts";
import { combined, leavesOf } from "./tree.ts";

/** What services are lent. */
export interface Outside {
  /** A number in [0, 1). */
  readonly chance: () => number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The id of an invocation that programs refer to by name. */
  readonly idOf: (name: string) => string;
  /** The version of the protocol that is spoken. */
  readonly protocol: number;
}

/** A call whose callee hears of a cancel. */
interface Tracked {
  readonly invocationId: number;
  readonly isCall: boolean;
}

/** SDKs number awakeables from here on. */
const AWAKEABLES = 17;

/** One attempt of a handler, in the manner of the real SDKs: see `Replay`. */
export class Sdk {
  readonly replay: Replay;
  readonly outside: Outside;
  readonly #attempt: number;
  readonly #program: Program;
  readonly #state: State;
  /** Whom this handler called and sent to. */
  readonly #tracked: Tracked[] = [];
  #awakeables = AWAKEABLES;
  /** Leaves that were not awaited yet. */
  #later: string[] = [];
  #isShielded = false;

  constructor(attempt: Attempt, outside: Outside) {
    this.outside = outside;
    this.#attempt = attempt.attempt;
    const [input] = attempt.entries;
    if (input?.kind !== "input") throw new Diverged("A journal begins with its input");
    this.#program = fromBytes(input.value);
    this.replay = new Replay(attempt);
    this.#state = new State(this.replay, attempt.state);
  }

  /** Said and not yet sent. */
  get frames(): Command[] {
    return this.replay.frames;
  }

  learn(entry: Entry, index: number): void {
    this.replay.learn(entry, index);
  }

  awaiting(ask: Ask & { kind: "await" }): Awaiting {
    return this.replay.awaiting(ask, this.outside.protocol);
  }

  /** Runs the handler. Throws `Stumbled`, or `Diverged` when somebody broke a promise. */
  *run(): Generator<Ask, void> {
    for (const op of this.#program) {
      if (op.do === "fail") {
        return this.#output({ kind: "failure", failure: failure(this.replay.digest) });
      }
      try {
        yield* this.#op(op);
      } catch (cause) {
        if (!(cause instanceof Canceled)) throw cause;
        yield* this.#passOn();
        if (!this.#isShielded) return this.#output({ kind: "failure", failure: CANCELED });
        this.#isShielded = false;
        this.replay.saw("caught");
      }
    }
    this.#output({ kind: "value", value: toBytes(this.replay.digest) });
  }

  *#op(op: Op): Generator<Ask, void> {
    switch (op.do) {
      case "run":
        return yield* this.#result(`c${yield* this.#run()}`, op.later);
      case "sleep":
        return yield* this.#result(`c${this.#sleep(op.ms)}`, op.later);
      case "call":
        return yield* this.#call(op);
      case "send":
        return this.#send(op);
      case "settle":
        return yield* this.#settle(op);
      case "stumble":
        return yield* this.#stumble(op);
      case "shield":
        this.#isShielded = true;
        return;
      case "awakeable":
        return yield* this.#result(`s${this.#awakeables++}`, op.later);
      case "listen":
        return this.replay.saw(yield* this.replay.one(`n${op.name}`));
      case "fail":
        return;
      default:
        return yield* this.#rare(op);
    }
  }

  *#rare(op: Rare): Generator<Ask, void> {
    const { replay } = this;
    switch (op.do) {
      case "promise":
      case "peek":
        return yield* this.#result(`c${promise(replay, op)}`, op.do === "promise" && op.later);
      case "keep":
        return yield* this.#result(`c${completePromise(replay, op, this.outside)}`, false);
      case "signal":
        return signal(replay, op, { callee: yield* this.#callee(), outside: this.outside });
      case "attach":
        return yield* this.#result(`c${this.#relate(op, yield* this.#callee())}`, op.later);
      default:
        return yield* this.#state.apply(op);
    }
  }

  #relate(op: Parameters<typeof relate>[1], callee: string | undefined): number {
    return relate(this.replay, op, { callee, outside: this.outside });
  }

  *#run(): Generator<Ask, number> {
    const { replay, outside } = this;
    const completion = replay.nextCompletion();
    replay.say(
      `run ${completion}`,
      { completion },
      (bytes) => ({ kind: "run", bytes, completion }),
    );
    if (replay.arrival(`c${completion}`)) return completion;
    yield { kind: "work" };
    const luck = outside.chance();
    const result: Result = luck < 0.2
      ? { kind: "failure", failure: { code: 500, message: `${luck}` } }
      : { kind: "value", value: bytesOf(`${this.#attempt}/${luck}`) };
    const ack = outside.protocol >= 7 ? { wantsAck: true } : {};
    this.frames.push({ kind: "runCompletion", completion, result, ...ack });
    return completion;
  }

  #sleep(ms: number): number {
    const completion = this.replay.nextCompletion();
    const wakeAt = this.outside.now() + ms;
    this.replay.say(`sleep ${ms} ${completion}`, { x: wakeAt, completion }, (bytes) => ({
      kind: "sleep",
      bytes,
      completion,
      wakeAt,
    }));
    return completion;
  }

  *#call(op: Op & { do: "call" }): Generator<Ask, void> {
    const { completion, invocationId } = call(this.replay, op);
    this.#tracked.push({ invocationId, isCall: true });
    yield* this.#result(`c${completion}`, op.later);
  }

  #send(op: Op & { do: "send" }): void {
    const invocationId = send(this.replay, op, this.outside);
    this.#tracked.push({ invocationId, isCall: false });
    this.#later.push(`c${invocationId}`);
  }

  /** Whom this handler called or sent to last. */
  *#callee(): Generator<Ask, string | undefined> {
    const last = this.#tracked.at(-1);
    return last && (yield* this.replay.invocationId(last.invocationId));
  }

  /**
   * Cancels every call that was made so far; one-way calls go on
   * (docs/spec/service-protocol.md#cancel-and-kill).
   */
  *#passOn(): Generator<Ask, void> {
    for (const { invocationId, isCall } of this.#tracked) {
      if (!isCall) continue;
      const target = yield* this.replay.invocationId(invocationId);
      this.replay.say("cancel a call", { target }, (bytes) => ({
        kind: "sendSignal",
        bytes,
        signal: { target, id: { kind: "signal", index: 1 }, result: { kind: "void" } },
      }));
    }
  }

  *#result(key: string, later: boolean | undefined): Generator<Ask, void> {
    if (later) this.#later.push(key);
    else this.replay.saw(yield* this.replay.one(key));
  }

  /** What has come when a combinator is over, in the order of the journal, and no later. */
  *#settle({ how, then }: Op & { do: "settle" }): Generator<Ask, void> {
    const all = this.#later;
    if (all.length === 0) return;
    const half = then && all.length > 2 ? Math.ceil(all.length / 2) : all.length;
    const nested = then && half < all.length ? [combined(then, all.slice(half))] : [];
    const tree = combined(how, all.slice(0, half), nested);
    const over = yield* this.replay.await(tree);
    const place = (key: string) => this.replay.arrival(key)?.at ?? Infinity;
    const here = leavesOf(tree).filter((key) => place(key) <= over.at);
    here.sort((a, b) => place(a) - place(b));
    this.#later = all.filter((key) => !here.includes(key));
    for (const key of here) this.replay.saw(`${key}:${this.replay.take(key)}`);
    this.replay.saw(String(over.isFailure));
  }

  *#stumble({ attempts, how }: Op & { do: "stumble" }): Generator<Ask, void> {
    // The journal has gone past this point: whoever replays it stumbles no more.
    if (this.#attempt > attempts || !this.replay.isOver) return;
    if (how !== "refused") throw new Stumbled(how);
    const completion = this.replay.nextCompletion();
    const request = { ...asked("greeter/hi", []), service: "nobody" };
    const bytes = toBytes({ is: "refused" });
    const ids = { invocationIdCompletion: this.replay.nextCompletion(), completion };
    // What comes behind it must not be stored either: no replay would say it.
    const never = { kind: "run", bytes: toBytes({ is: "never" }), completion: 1_000 } as const;
    this.frames.push({ kind: "call", bytes, ...ids, request }, never);
    const tree = combined("first", [`c${completion}`]);
    yield { kind: "await", tree, isCancelable: false };
    throw new Diverged("A refused command was answered");
  }

  #output(result: Result): void {
    this.replay.say(
      `output ${result.kind}`,
      {},
      (bytes) => ({ kind: "output", bytes, result }),
    );
  }
}

type Rare =
  | Parameters<State["apply"]>[0]
  | Parameters<typeof promise>[1]
  | Parameters<typeof completePromise>[1]
  | Parameters<typeof signal>[1]
  | Parameters<typeof relate>[1];
