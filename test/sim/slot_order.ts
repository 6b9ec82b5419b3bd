import type { Attempt, Effect } from "../../src/engine/effect.ts";
import type { Attempts } from "../../src/outbound/attempts.ts";
import { PRIORITY_DEFAULT } from "../../src/model/queue.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import { must } from "./must.ts";

/** An attempt that waits for a slot. */
interface Waiting {
  readonly id: string;
  readonly attempt: number;
  readonly priority: number;
  /** Of its handler, and apart for what has run before. */
  readonly queue: string;
}

export interface SlotOrderOptions {
  /** The time of waiting that is worth a level of priority. Milliseconds. */
  readonly agingMs: number;
  readonly now: () => number;
}

/**
 * Checks in which order attempts get the slots of `worker.invoker.concurrent-invocations-limit`, from
 * what the partition asks for and is offered. Of two priorities the higher one goes first, unless the
 * lower one has waited without a slot for longer, by more than their levels are worth. Of one priority
 * queues take turns, and within a queue the first comes first.
 */
export class SlotOrder {
  readonly #options: SlotOrderOptions;
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<string, Waiting>();
  /** By priority: since when it has waited without a slot. */
  readonly #since = new Map<number, number>();
  /** By priority and queue: when it came, or had its last turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(options: SlotOrderOptions) {
    this.#options = options;
  }

  /** Those attempts, seen by this check. */
  watch(attempts: Attempts): AttemptRunner {
    return {
      start: (effect) => {
        attempts.start(effect);
        const { id } = effect.invocation;
        if (attempts.status(id)?.kind === "ready") this.#waits(waitingOf(effect));
        else this.#leaves(id, effect.attempt);
      },
      openEarly: (effect) => attempts.openEarly(effect),
      proceed: (effect) => attempts.proceed(effect),
      notify: (effect) => attempts.notify(effect),
      abort: (effect) => {
        this.#leaves(effect.id, effect.attempt);
        attempts.abort(effect);
      },
      yield: (effect: Effect & { type: "yield" }) => {
        if (this.#waiting.get(effect.id)?.attempt === effect.attempt) {
          this.#leaves(effect.id, effect.attempt);
        }
        attempts.yield(effect);
      },
      close: () => attempts.close(),
    };
  }

  /** An attempt that waited is offered a slot. */
  offered(id: string): void {
    const one = this.#waiting.get(id);
    must(one !== undefined, () => `"${id}" is offered a slot, and did not wait`);
    if (!one) return;
    for (const other of this.#waiting.values()) this.#mustNotPass(one, other);
    this.#since.set(one.priority, this.#options.now());
    this.#turns.set(turnOf(one), ++this.#turn);
    this.#waiting.delete(id);
  }

  #mustNotPass(one: Waiting, other: Waiting): void {
    if (one === other) return;
    const why = one.priority === other.priority
      ? this.#whyTurn(one, other)
      : this.#whyPriority(one, other);
    must(why === undefined, () => `"${one.id}" got a slot, and "${other.id}" ${why}`);
  }

  #whyPriority(one: Waiting, other: Waiting): string | undefined {
    const ahead = (one.priority - other.priority) * this.#options.agingMs;
    // Positive: the other one has waited for longer.
    const longer = (this.#since.get(one.priority) ?? 0) - (this.#since.get(other.priority) ?? 0);
    if (longer < ahead || longer === ahead && one.priority > other.priority) return undefined;
    return `of priority ${other.priority} waited ${longer} ms longer`;
  }

  #whyTurn(one: Waiting, other: Waiting): string | undefined {
    if (one.queue !== other.queue) {
      const [own = 0, others = 0] = [this.#turns.get(turnOf(one)), this.#turns.get(turnOf(other))];
      return others < own ? "is of a queue whose turn it is" : undefined;
    }
    const [first] = [...this.#waiting.values()].filter((each) => each === one || each === other);
    return first === other ? "came before it" : undefined;
  }

  #waits(one: Waiting): void {
    const known = this.#waiting.get(one.id);
    if (known && known.attempt >= one.attempt) return;
    const all = [...this.#waiting.values()];
    if (!all.some(({ priority }) => priority === one.priority)) {
      this.#since.set(one.priority, this.#options.now());
    }
    const isKnown = all.some((other) => turnOf(other) === turnOf(one));
    if (!isKnown) this.#turns.set(turnOf(one), ++this.#turn);
    this.#waiting.delete(one.id);
    this.#waiting.set(one.id, one);
  }

  #leaves(id: string, attempt: number): void {
    const one = this.#waiting.get(id);
    if (one && one.attempt <= attempt) this.#waiting.delete(id);
  }
}

function waitingOf({ invocation: { id, target, priority }, attempt }: Attempt): Waiting {
  const age = attempt > 1 ? "resumed" : "new";
  return {
    id,
    attempt,
    priority: priority ?? PRIORITY_DEFAULT,
    queue: `${target.service}/${target.handler} ${age}`,
  };
}

function turnOf({ priority, queue }: Waiting): string {
  return `${priority} ${queue}`;
}
