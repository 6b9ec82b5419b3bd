import { limitedCounters, limitedHandlers, limitsOfCounter } from "../../engine/flow/admission.ts";
import { TOKEN } from "../../engine/flow/bucket.ts";
import { type Counter, isShared, serviceOfHandler } from "../../engine/flow/counters.ts";
import type { Slots } from "../../engine/flow/slots.ts";
import type { Limits, Rate } from "../../model/limits.ts";
import { ONLY_PARTITION, type PartitionRange } from "../../model/ring.ts";
import type { Schema } from "../../model/schema.ts";
import type { Clock, Mailbox } from "../../ports.ts";
import type { Counters, CounterState } from "./counter_state.ts";
import type { WaitQueue } from "./wait_queue.ts";

export interface SharesOptions {
  /** Absent: the only partition. */
  readonly range?: PartitionRange;
  readonly clock: Clock;
  readonly schema: () => Schema;
  /** Takes `SharesEvent`. */
  readonly send: Mailbox;
  /** What the partition knows of its counters. */
  readonly counters: Counters;
}

/** Most slots, and starts, that are asked for at once. */
const WANTED_MAX = 64;

/**
 * Decides when a partition asks for slots of the counters that all partitions share, and when it gives
 * some back (decision 051). Nothing here is stored. The engine checks and does it.
 */
export class Shares {
  readonly #options: SharesOptions;
  /** Counters at which something has changed. */
  readonly #marked = new Set<Counter>();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  isShared(counter: Counter): boolean {
    return isShared(counter, this.#options.range ?? ONLY_PARTITION);
  }

  /** Whether the share of a counter has an idle slot, if it is shared. */
  hasSlot(counter: Counter): boolean {
    return !this.isShared(counter) || this.#options.counters.state(counter).idleSlots > 0;
  }

  /** Whether the share of a counter, or its bucket if it is not shared, has a token to spare. */
  hasToken(counter: Counter, rate: Rate): boolean {
    const { counters, clock } = this.#options;
    const state = counters.get(counter);
    if (this.isShared(counter)) return state !== undefined && state.idleStarts > 0;
    return !state || state.tokens(rate, clock.now()) >= TOKEN;
  }

  /** Something has changed at a counter: the next `review` looks at it, if it is shared. */
  mark(counter: Counter): void {
    if (this.isShared(counter)) this.#marked.add(counter);
  }

  /** A queue has something that waits. */
  add(queue: WaitQueue): void {
    for (const counter of queue.counters) {
      if (this.isShared(counter)) this.#options.counters.state(counter).queues.add(queue);
    }
  }

  /** Nothing waits in a queue any more. */
  forget(queue: WaitQueue): void {
    for (const counter of queue.counters) {
      if (this.#options.counters.get(counter)?.queues.delete(queue)) this.mark(counter);
    }
  }

  /** Takes over what a turn has found or done. Returns the counters whose shares it has changed. */
  apply({ shares, banks, reviewed }: Slots): Counter[] {
    const { counters } = this.#options;
    for (const share of shares) counters.state(share.counter).share = share;
    for (const bank of banks) counters.state(bank.counter).bank = bank;
    for (const counter of reviewed) counters.state(counter).isReviewing = false;
    // What waits for a start keeps no slot of its handler, so those may be idle now.
    for (const { counter } of shares) if (this.#lacksStart(counter)) this.#markHandlers(counter);
    const changed = shares.map(({ counter }) => counter);
    for (const counter of [...changed, ...reviewed]) this.mark(counter);
    for (const { counter } of banks) this.mark(counter);
    return changed;
  }

  /** At boot, and when limits have changed: reads all shares, and has those given that can be. */
  all(): void {
    const { schema, send } = this.#options;
    for (const id of limitedCounters(schema().controls)) {
      if (this.isShared(id)) send({ type: "sharesDue", id });
    }
    this.review();
  }

  /** Looks at the counters at which something has changed. */
  review(): void {
    const { counters, schema } = this.#options;
    for (const counter of this.#marked) {
      const state = counters.get(counter);
      const limits = limitsOfCounter(counter, schema().controls);
      if (!state || !limits) continue;
      if (state.bank) this.#expectToken(counter, state, limits);
      if (!state.isReviewing) this.#balance(counter, state, limits);
    }
    this.#marked.clear();
  }

  /** Marks the limited handlers of the service that a counter is of. Of a handler there are none. */
  #markHandlers(counter: Counter): void {
    for (const one of limitedHandlers(counter, this.#options.schema().controls)) this.mark(one);
  }

  #balance(counter: Counter, state: CounterState, limits: Limits): void {
    if (!state.share) return this.#send(state, { type: "sharesDue", id: counter });
    const wanted = wantedOf(state, limits);
    const { asksSlots, asksStarts, isWanted } = state.share;
    if (wanted.slots > 0 && !asksSlots || wanted.starts > 0 && !asksStarts) {
      return this.#send(state, { type: "shortOfSlots", id: counter, ...wanted });
    }
    const spare = {
      slots: isWanted ? this.#spareSlots(counter, state) : 0,
      starts: state.idleStarts > 0 && !needsStart(state) ? state.idleStarts : 0,
    };
    if (spare.slots + spare.starts === 0) return;
    this.#send(state, { type: "slotsIdle", id: counter, ...spare });
  }

  #send(state: CounterState, event: Parameters<Mailbox>[0]): void {
    state.isReviewing = true;
    this.#options.send(event);
  }

  /** Idle slots for other partitions that wait: none while a queue is about to need some. */
  #spareSlots(counter: Counter, state: CounterState): number {
    const { idleSlots, elsewhere } = state;
    if (idleSlots <= 0 || elsewhere > 0) return 0;
    return this.#keepsOne(counter, state) ? idleSlots - 1 : idleSlots;
  }

  /**
   * Who waits for a slot of a service keeps one of the handler: otherwise two partitions may give to each
   * other, again and again, what the other one lacks. Who waits for a start keeps none, since that may take
   * many periods, while those that have run before need only the slot.
   */
  #keepsOne(counter: Counter, { queues }: CounterState): boolean {
    const service = serviceOfHandler(counter);
    if (service === undefined) return false;
    const lacksStart = this.#lacksStart(service);
    for (const { waitsAt, isFirst } of queues) {
      if (waitsAt === service && !(isFirst && lacksStart)) return true;
    }
    return false;
  }

  /** Whether a counter has a rate, and the partition no start of it to spare. */
  #lacksStart(counter: Counter): boolean {
    const { counters, schema } = this.#options;
    const { rate } = limitsOfCounter(counter, schema().controls) ?? {};
    return rate !== undefined && (counters.get(counter)?.idleStarts ?? 0) <= 0;
  }

  /** Looks at a bank again when its bucket has the next token, if a partition waits for that. */
  #expectToken(counter: Counter, state: CounterState, { rate }: Limits): void {
    const { clock, send } = this.#options;
    state.cancelAlarm?.();
    state.cancelAlarm = undefined;
    if (!rate || !state.bank?.waiting.some(({ starts }) => starts > 0)) return;
    state.expectToken(rate, clock, () => send({ type: "sharesDue", id: counter }));
  }
}

/**
 * What lacks at a counter for what waits there, and for what runs already. Slots are asked for only as
 * far as there are starts: a slot that cannot be used would go to and fro.
 */
function wantedOf(
  state: CounterState,
  { concurrency, rate }: Limits,
): { readonly slots: number; readonly starts: number } {
  const { first, again } = waitingAt(state);
  const starts = Math.max(0, state.idleStarts);
  const ready = again + (rate ? Math.min(first, starts) : first);
  return {
    slots: concurrency === undefined
      ? 0
      : Math.max(0, Math.min(WANTED_MAX, ready - state.idleSlots)),
    starts: rate ? Math.max(0, Math.min(WANTED_MAX, first - starts)) : 0,
  };
}

/** Whether one that needs a slot of it has never run. Who has needs no start, and others may wait for one. */
function needsStart({ queues }: CounterState): boolean {
  for (const { isFirst } of queues) if (isFirst) return true;
  return false;
}

/** Invocations in memory that wait at a counter: which have never run, and which have. */
function waitingAt({ lanes }: CounterState): { readonly first: number; readonly again: number } {
  let first = 0, again = 0;
  for (const { isFirst, length } of lanes ?? []) {
    if (isFirst) first += length;
    else again += length;
    if (first + again >= WANTED_MAX) break;
  }
  return { first, again };
}
