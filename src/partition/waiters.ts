import type { Effect, Reply } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import { Failure } from "../errors.ts";
import { SlotMap } from "../slot_map.ts";
import type { Accepted, Completed, OnLeave } from "../ports.ts";
import {
  InvocationWaiter,
  type InvocationWaiterOptions,
  type ReplyAndResult,
} from "./invocation_waiter.ts";

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (failure: Failure) => void;
}

/**
 * Requests that wait for a reply or a result. They are in memory only: when the process dies, so do
 * their connections, and the invocation goes on without them.
 */
export class Waiters {
  readonly #replies = new SlotMap<number, Waiter<Reply>>();
  /** Most have one waiter; a set is made for the second. */
  readonly #results = new SlotMap<string, Waiter<Completed> | Set<Waiter<Completed>>>();
  #token = 0;

  /** Requests that wait. */
  get size(): number {
    return this.#replies.size + this.#results.size;
  }

  /** Returns a token for an event, and the reply to it. */
  reply(): { token: number; reply: Promise<Reply> } {
    const token = ++this.#token;
    const reply = new Promise<Reply>((resolve, reject) => {
      this.#replies.set(token, { resolve, reject });
    });
    return { token, reply };
  }

  /** The result of an invocation, once it has one. The waiter is removed when the caller leaves. */
  result(id: string, onLeave?: OnLeave): Promise<Completed> {
    return new Promise((resolve, reject) => this.#await(id, { resolve, reject }, onLeave));
  }

  /**
   * Returns a token for an event that invokes or asks for `id`, and its outcome: the reply, and unless
   * `isAll` says that it suffices, the result. Rejects when the caller leaves.
   */
  waitForBoth(
    id: string,
    isAll: InvocationWaiterOptions["isAll"],
    onLeave?: OnLeave,
  ): { token: number; outcome: Promise<ReplyAndResult> } {
    const token = ++this.#token;
    const outcome = new Promise<ReplyAndResult>((resolve, reject) => {
      const forget = () => this.#forget(id, waiter);
      const waiter = new InvocationWaiter({ isAll, resolve, reject, forget });
      this.#replies.set(token, { resolve: (reply) => waiter.replied(reply), reject });
      this.#await(id, waiter, onLeave);
    });
    return { token, outcome };
  }

  replied(effect: Reply): void {
    this.#replies.get(effect.reply)?.resolve(effect);
    this.#replies.delete(effect.reply);
  }

  completed({ id, result }: Effect & { type: "completed" }): void {
    const known = this.#results.get(id);
    if (!known) return;
    this.#results.delete(id);
    for (const waiter of each(known)) waiter.resolve({ result });
  }

  /** Rejects the requests that wait for an event which cannot be applied. */
  refused(event: Event, failure: Failure): void {
    const { reply } = event as { readonly reply?: number };
    if (reply !== undefined) {
      this.#replies.get(reply)?.reject(failure);
      this.#replies.delete(reply);
    }
    if (event.type !== "invoked" && event.type !== "asked") return;
    const known = this.#results.get(event.id);
    this.#results.delete(event.id);
    for (const waiter of known ? each(known) : []) waiter.reject(failure);
  }

  /** Rejects all waiters: the partition has stopped, and the fate of their requests is unknown. */
  fail(failure: Failure): void {
    const all = [
      ...this.#replies.values(),
      ...[...this.#results.values()].flatMap((known) => [...each(known)]),
    ];
    this.#replies.clear();
    this.#results.clear();
    for (const waiter of all) waiter.reject(failure);
  }

  #await(id: string, waiter: Waiter<Completed>, onLeave: OnLeave | undefined): void {
    const known = this.#results.get(id);
    if (known instanceof Set) known.add(waiter);
    else this.#results.set(id, known ? new Set([known, waiter]) : waiter);
    onLeave?.(() => this.#leave(id, waiter));
  }

  #leave(id: string, waiter: Waiter<Completed>): void {
    if (!this.#forget(id, waiter)) return;
    waiter.reject(Failure.plain(499, "the caller went away"));
  }

  /** Removes a waiter. Returns whether it was still waiting. */
  #forget(id: string, waiter: Waiter<Completed>): boolean {
    const known = this.#results.get(id);
    if (known === waiter) return this.#results.delete(id);
    if (!(known instanceof Set) || !known.delete(waiter)) return false;
    if (known.size === 0) this.#results.delete(id);
    return true;
  }
}

function each<T>(known: Waiter<T> | Set<Waiter<T>>): Iterable<Waiter<T>> {
  return known instanceof Set ? known : [known];
}

/** A reply, as the sender of an invocation gets it. */
export function acceptedOf({ id, status: told, startAt }: Reply): Accepted {
  const status = told === "previouslyAccepted" ? told : "accepted";
  return startAt === undefined ? { id, status } : { id, status, startAt };
}
