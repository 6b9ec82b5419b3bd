import type { Effect } from "../engine/effect.ts";
import type { Rows } from "../model/rows.ts";
import { OutboxRoute, PAGE, type RouteOptions } from "./outbox_route.ts";

/** A sender needs the same as each of its routes. */
export type OutboxSenderOptions = RouteOptions;

/**
 * Sends messages to other partitions: to each one in order, and again until they are acknowledged
 * (decision 031). Every message is a durable row before it is added here, so a crash loses none, and
 * only those that are sent next need to be in memory.
 */
export class OutboxSender {
  readonly #options: OutboxSenderOptions;
  readonly #routes = new Map<number, OutboxRoute>();
  /** Nothing is sent before the messages of an earlier life are known, since it would overtake them. */
  #isOpening = true;
  #isStopped = false;

  constructor(options: OutboxSenderOptions) {
    this.#options = options;
  }

  /** Messages in memory that are not acknowledged. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#routes.values()) count += waiting;
    return count;
  }

  /** Reads the messages of earlier lives, and begins. Messages that were added before go behind them. */
  async open(): Promise<void> {
    let after: Pick<Rows["outbox"], "to" | "seq"> | undefined;
    for (;;) {
      const page = await this.#options.load(after, PAGE);
      if (this.#isStopped) return;
      for (const row of page) this.#route(row.to).found(row);
      const end = page.at(-1);
      if (!end || page.length < PAGE) break;
      // A full queue is refilled later.
      const isFull = this.#route(end.to).tail < end.seq;
      after = isFull ? { to: end.to, seq: Number.MAX_SAFE_INTEGER } : end;
    }
    this.#isOpening = false;
    for (const route of this.#routes.values()) route.pump();
  }

  /** Takes a message that is durable. */
  add({ to, seq, message }: Effect & { type: "forward" }): void {
    if (this.#isStopped) return;
    if (this.#isOpening) return this.#route(to).expectMore();
    const route = this.#route(to, seq - 1);
    route.add({ seq, message });
    route.pump();
  }

  stop(): void {
    this.#isStopped = true;
    for (const route of this.#routes.values()) route.stop();
    this.#routes.clear();
  }

  /** `tail`: the last message that needs no sending, if the route is new. */
  #route(to: number, tail = 0): OutboxRoute {
    let route = this.#routes.get(to);
    if (!route) this.#routes.set(to, route = new OutboxRoute(to, tail, this.#options));
    return route;
  }
}
