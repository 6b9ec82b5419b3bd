import { expect } from "vitest";
import type { Address } from "../support/client.ts";
import { type Answered, attach, callOnce, sendOnce } from "./_retry.ts";
import type { Notes } from "./_notes.ts";

/** What a target object must answer from now on, whatever happens. */
export interface Settled {
  readonly target: object;
  readonly status: number;
  readonly body: unknown;
}

const COUNTERS = 20;

/** A mixed load: who is asked, and what must be true when all is over. */
export class Load {
  readonly server: Address;
  readonly notes: Notes;
  /** From 0 to 1, from a seed. */
  readonly chance: () => number;
  readonly settled: Settled[] = [];
  readonly #owed = new Map<string, number>();

  constructor(server: Address, notes: Notes, chance: () => number) {
    this.server = server;
    this.notes = notes;
    this.chance = chance;
  }

  /** A counter many share. */
  counter(): string {
    return `t${this.under(COUNTERS)}`;
  }

  /** An integer from 0, less than `limit`. */
  under(limit: number): number {
    return Math.floor(this.chance() * limit);
  }

  /** Says what was asked to be added to a counter. */
  owe(counter: string, delta: number): void {
    this.#owed.set(counter, (this.#owed.get(counter) ?? 0) + delta);
  }

  owed(): ReadonlyMap<string, number> {
    return this.#owed;
  }

  /** Calls a handler of `Work` with the id as its idempotency key, and keeps the result in mind. */
  async work(handler: string, id: string, body: unknown): Promise<unknown> {
    const { status, body: result } = await callOnce(this.server, `Work/${handler}`, {
      body,
      key: id,
    });
    expect([status, result], `${handler} ${id}`).toEqual([200, expect.anything()]);
    this.settle(workOf(handler, id), { status, body: result });
    return result;
  }

  /** Sends to a handler of `Work` with the id as its idempotency key. Answers its invocation. */
  start(handler: string, id: string, body: unknown, query = ""): Promise<string> {
    return sendOnce(this.server, `Work/${handler}${query}`, { body, key: id });
  }

  /** The result of what was started, kept in mind. */
  async result(handler: string, id: string): Promise<Answered> {
    return await this.attach(workOf(handler, id));
  }

  /** The result of a target object, kept in mind. */
  async attach(target: object): Promise<Answered> {
    const answer = await attach(this.server, target);
    this.settle(target, answer);
    return answer;
  }

  settle(target: object, { status, body }: Pick<Answered, "status" | "body">): void {
    this.settled.push({ target, status, body });
  }

  /** What was journaled is what was noted last, and nothing was noted again after its successor. */
  checkSteps(id: string, values: readonly unknown[]): void {
    const notes = this.notes.of(id).filter(({ name }) => name.startsWith("step-"));
    const order = notes.map(({ name }) => Number(name.slice("step-".length)));
    expect(order, `${id}: no step after a later one`).toEqual(order.toSorted((a, b) => a - b));
    const last = new Map(notes.map(({ name, value }) => [name, value]));
    expect(values, `${id}: what was journaled`).toEqual([...last.values()]);
  }
}

function workOf(handler: string, id: string): object {
  return { target: "idempotentInvocation", service: "Work", handler, idempotencyKey: id };
}
