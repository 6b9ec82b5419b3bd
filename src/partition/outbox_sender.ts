import type { Effect } from "../engine/effect.ts";
import type { Rows } from "../model/rows.ts";
import { OutboxRoute, PAGE, type RouteOptions } from "./outbox_route.ts";

/** What a sender is lent: the same as each of its routes. */
export type OutboxSenderOptions = RouteOptions;

/**
 * Brings messages to other partitions: each destination gets its own in their order, and what it has
 * not acknowledged again and again (decision 031). Every message is a row before it comes here, so a
 * crash loses none, and no more of them need to be in memory than are sent next.
 */
export class OutboxSender {
  readonly #options: OutboxSenderOptions;
  readonly #routes = new Map<number, OutboxRoute>();
  /** Until all that an earlier life left is known, nothing goes: it would overtake that. */
  #isOpening = true;
  #isStopped = false;

  constructor(options: OutboxSenderOptions) {
    this.#options = options;
  }

  /** Messages known to be under way. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#routes.values()) count += waiting;
    return count;
  }

  /** Finds what an earlier life left behind, and begins. What is added before goes after it. */
  async open(): Promise<void> {
    let after: Pick<Rows["outbox"], "to" | "seq"> | undefined;
    for (;;) {
      const page = await this.#options.load(after, PAGE);
      if (this.#isStopped) return;
      for (const row of page) this.#route(row.to).found(row);
      const end = page.at(-1);
      if (!end || page.length < PAGE) break;
      // Whoever has a full queue gets the rest later.
      const isFull = this.#route(end.to).tail < end.seq;
      after = isFull ? { to: end.to, seq: Number.MAX_SAFE_INTEGER } : end;
    }
    this.#isOpening = false;
    for (const route of this.#routes.values()) route.pump();
  }

  /** A message that is durable. */
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

  /** `tail`: the last message that needs no sending, where nothing is known of this route. */
  #route(to: number, tail = 0): OutboxRoute {
    let route = this.#routes.get(to);
    if (!route) this.#routes.set(to, route = new OutboxRoute(to, tail, this.#options));
    return route;
  }
}
