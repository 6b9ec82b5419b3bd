import type { InboxView } from "../engine/inbox_room.ts";
import type { InvocationRow } from "../model/invocation.ts";
import type { Lease, Store } from "../ports.ts";
import type { OfSubscription } from "../scan.ts";

/** Invocations read at once. */
const PAGE = 1_000;

/**
 * Counts the invocations of each subscription that are not completed, and so the room for more of them
 * (decision 052). Nothing here is stored: a new life counts anew.
 */
export class Inboxes implements InboxView {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  /** `limit`: invocations of one subscription in this partition. Absent: no limit. */
  constructor(limit = Infinity) {
    this.#limit = limit;
  }

  roomOf(subscription: string): number {
    return Math.max(0, this.#limit - this.countOf(subscription));
  }

  countOf(subscription: string): number {
    return this.#counts.get(subscription) ?? 0;
  }

  /** At boot: counts what the store has. No turn may run meanwhile. Rejects as the store does. */
  async recover(store: Store, lease: Lease): Promise<void> {
    let last: OfSubscription | undefined;
    for (;;) {
      const after = last && { after: last.id };
      const page = await store.scan(lease, { kind: "ingested", limit: PAGE, ...after });
      for (const { subscription } of page) this.#add(subscription, 1);
      last = page.at(-1);
      if (page.length < PAGE) return;
    }
  }

  /** A turn has written an invocation, or dropped it. Parameters: as of `OnChange`. */
  invocationChanged(
    before: InvocationRow | null | undefined,
    row: InvocationRow,
    isGone: boolean,
  ): void {
    // Most are of no subscription. An id that is used again may be of another one.
    const was = before ? openOf(before) : undefined;
    const is = isGone ? undefined : openOf(row);
    if (was === is) return;
    if (was !== undefined) this.#add(was, -1);
    if (is !== undefined) this.#add(is, 1);
  }

  #add(subscription: string, by: 1 | -1): void {
    const count = this.countOf(subscription) + by;
    if (count === 0) this.#counts.delete(subscription);
    else this.#counts.set(subscription, count);
  }
}

/** The subscription of an invocation that is not completed. Undefined: it is another one. */
function openOf({ origin, status }: InvocationRow): string | undefined {
  return origin.by === "subscription" && status.kind !== "completed" ? origin.id : undefined;
}
