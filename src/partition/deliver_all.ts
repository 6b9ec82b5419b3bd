import { assert } from "../assert.ts";
import type { Effect } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import { step } from "../engine/step.ts";
import { miss, type RowView, Turn } from "../engine/turn.ts";
import { type Item, itemOf, type Rows, type Table, type Want } from "../model/rows.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Clock, Lease, Loaded, Store } from "../ports.ts";

export interface DeliverAllOptions {
  readonly store: Store;
  /** Of every partition, in their order. */
  readonly leases: readonly Lease[];
  readonly clock: Pick<Clock, "now">;
  readonly schema: Schema;
}

/** Messages that are delivered in one turn. */
const BATCH_MESSAGES_MAX = 64;

/**
 * Delivers every message in the outboxes of an installation, and the messages that these deliveries
 * cause, until all outboxes are empty: as the partitions would themselves (decision 031), but no attempt
 * runs and no timer fires. It terminates, since only attempts cause further work. Afterwards the
 * sequence numbers of messages are free.
 *
 * Returns how many were delivered. Rejects as the store does.
 */
export async function deliverAll(options: DeliverAllOptions): Promise<number> {
  let deliveredCount = 0;
  for (let before = -1; before !== deliveredCount;) {
    before = deliveredCount;
    for (const lease of options.leases) deliveredCount += await emptyOutbox(lease, options);
  }
  return deliveredCount;
}

async function emptyOutbox(lease: Lease, options: DeliverAllOptions): Promise<number> {
  for (let deliveredCount = 0;;) {
    const page = await options.store.scan(lease, { kind: "outbox", limit: BATCH_MESSAGES_MAX });
    const [head] = page;
    if (!head) return deliveredCount;
    const batch = page.filter(({ to }) => to === head.to);
    await deliverBatch(batch, head, options);
    deliveredCount += batch.length;
  }
}

/** Messages of one pair, in their order: the receiver commits them, then the sender deletes them. */
async function deliverBatch(
  batch: readonly Rows["outbox"][],
  { from, to, seq: first }: Rows["outbox"],
  options: DeliverAllOptions,
): Promise<void> {
  const messages = batch.map(({ message }) => message);
  const last = first + messages.length - 1;
  assert(batch.at(-1)?.seq === last, "Messages of a pair have numbers in a row");
  const effects = await turn(to, { type: "delivered", from, first, messages, reply: 0 }, options);
  const isHeard = (effect: Effect) => effect.type === "reply" && (effect.heard ?? 0) >= last;
  assert(effects.some(isHeard), "A delivery in order is acknowledged");
  await turn(from, { type: "acknowledged", to, first, last }, options);
}

/** Runs one turn of a partition and commits it. Its effects are dropped: a boot derives them (law 3). */
async function turn(
  partition: number,
  event: Event,
  { store, leases, clock, schema }: DeliverAllOptions,
): Promise<readonly Effect[]> {
  const lease = leases[partition];
  assert(lease, "Messages go to partitions that there are");
  const range: PartitionRange = { partition, partitions: leases.length };
  const now = clock.now();
  for (const rows = new Loads();;) {
    const page = new Turn(now, schema, { rows, range });
    if (applied(page, event)) {
      await store.commit(lease, page.writes);
      return page.effects;
    }
    rows.add(await store.load(lease, page.wants));
  }
}

function applied(page: Turn, event: Event): boolean {
  try {
    step(page, event);
    return true;
  } catch (cause) {
    if (cause !== miss) throw cause;
    return false;
  }
}

/** The rows that were loaded for one turn. */
class Loads implements RowView {
  readonly #rows = new Map<string, Map<Item, Rows[Table]>>();
  readonly #known = new Set<string>();

  add(loaded: readonly Loaded[]): void {
    for (const { want, rows, pages = [rows] } of loaded) {
      this.#known.add(nameOf(want));
      const group = nameOf({ table: want.table, group: want.group });
      const items = this.#rows.get(group) ?? new Map<Item, Rows[Table]>();
      for (const page of pages) for (const row of page) items.set(itemOf(want.table, row), row);
      this.#rows.set(group, items);
    }
  }

  find<T extends Table>(table: T, group: string, item: Item): Rows[T] | null | undefined {
    const whole = { table, group };
    const row = this.#rows.get(nameOf(whole))?.get(item);
    if (row) return row as Rows[T];
    const isKnown = this.#known.has(nameOf(whole)) || this.#known.has(nameOf({ ...whole, item }));
    return isKnown ? null : undefined;
  }

  list<T extends Table>(table: T, group: string): Iterable<Rows[T]> | undefined {
    const name = nameOf({ table, group });
    return this.#known.has(name) ? this.#rows.get(name)?.values() as Iterable<Rows[T]> : undefined;
  }
}

function nameOf({ table, group, item }: Want): string {
  return `${table}\0${item === undefined ? "" : typeof item}\0${item ?? ""}\0${group}`;
}
