import type { Effect, Reply } from "../engine/effect.ts";
import { Failure } from "../errors.ts";
import type { Accepted, Completed, OnLeave } from "../ports.ts";

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (failure: Failure) => void;
}

/**
 * Requests that wait for the engine to answer. Held in memory only: when the process dies, so do
 * the connections of those who wait here, and the invocation goes on without them.
 */
export class Waiters {
  readonly #replies = new Map<number, Waiter<Reply>>();
  /** One waiter is the rule; a set is made for the second. */
  readonly #results = new Map<string, Waiter<Completed> | Set<Waiter<Completed>>>();
  #token = 0;

  /** Requests that wait. */
  get size(): number {
    return this.#replies.size + this.#results.size;
  }

  /** A token for an `invoked` event, and what its reply will be. */
  reply(): { token: number; reply: Promise<Reply> } {
    const token = ++this.#token;
    const reply = new Promise<Reply>((resolve, reject) => {
      this.#replies.set(token, { resolve, reject });
    });
    return { token, reply };
  }

  /** The result of an invocation, once it has one. Forgotten when the caller leaves. */
  result(id: string, onLeave?: OnLeave): Promise<Completed> {
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      const known = this.#results.get(id);
      if (known instanceof Set) known.add(waiter);
      else this.#results.set(id, known ? new Set([known, waiter]) : waiter);
      onLeave?.(() => this.#leave(id, waiter));
    });
  }

  replied(effect: Reply): void {
    this.#replies.get(effect.reply)?.resolve(effect);
    this.#replies.delete(effect.reply);
  }

  completed({ id, result }: Effect & { type: "completed" }): void {
    const known = this.#results.get(id);
    if (!known) return;
    this.#results.delete(id);
    for (const { resolve } of each(known)) resolve({ result });
  }

  /** Answers everybody: the partition is gone, and nobody knows what became of their requests. */
  fail(failure: Failure): void {
    const all = [
      ...this.#replies.values(),
      ...[...this.#results.values()].flatMap((known) => [...each(known)]),
    ];
    this.#replies.clear();
    this.#results.clear();
    for (const { reject } of all) reject(failure);
  }

  #leave(id: string, waiter: Waiter<Completed>): void {
    const known = this.#results.get(id);
    if (known === waiter) this.#results.delete(id);
    else if (!(known instanceof Set) || !known.delete(waiter)) return;
    else if (known.size === 0) this.#results.delete(id);
    waiter.reject(Failure.plain(499, "the caller went away"));
  }
}

function each<T>(known: Waiter<T> | Set<Waiter<T>>): Iterable<Waiter<T>> {
  return known instanceof Set ? known : [known];
}

/** What a sender is told of a reply. */
export function acceptedOf({ id, status: told, startAt }: Reply): Accepted {
  const status = told === "previouslyAccepted" ? told : "accepted";
  return startAt === undefined ? { id, status } : { id, status, startAt };
}
