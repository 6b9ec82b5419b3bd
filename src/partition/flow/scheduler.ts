import { firstFull, type Full } from "../../engine/flow/admission.ts";
import type { BucketState } from "../../engine/flow/bucket.ts";
import { type Counted, type Counter, countersOf, isPause } from "../../engine/flow/counters.ts";
import { demandOfQueue } from "../../engine/flow/queue.ts";
import type { Queued, Settled, Slots, SlotView } from "../../engine/flow/slots.ts";
import type { Rate } from "../../model/limits.ts";
import { PRIORITY_AGING_MS } from "../../model/queue.ts";
import { PriorityLanes } from "../../priority_lanes.ts";
import { Counters, type CounterState } from "./counter_state.ts";
import { GRANTS_MAX, type SchedulerOptions } from "./scheduler_options.ts";
import { Shares } from "./shares.ts";
import { WaitQueue } from "./wait_queue.ts";

/** The counter of the grants whose turns have not run. */
const GRANTS = "grants";

/**
 * Counts the slots of a partition, and proposes who starts next of those that wait (decision 050). Nothing
 * here is stored, and the engine checks every grant. Each queue waits at one counter that is full, or in
 * `GRANTS`. When that counter has room again, queues take turns: each one either gets a grant for its head,
 * or moves to another counter that is full.
 */
export class Scheduler implements SlotView {
  readonly #options: SchedulerOptions;
  readonly #counters = new Counters();
  readonly #queues = new Map<string, WaitQueue>();
  /** Grants whose turns have not run, by place. */
  readonly #granted = new Map<number, WaitQueue>();
  /** The place of the next one that has to wait. */
  nextSeq = 0;
  #isStopped = false;
  readonly #shares: Shares;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#shares = new Shares({ ...options, counters: this.#counters });
  }

  held(counter: Counter): number {
    return this.#counters.get(counter)?.used ?? 0;
  }

  taken(counter: Counter): number {
    return this.#counters.get(counter)?.taken ?? 0;
  }

  reservedTokens(counter: Counter): number {
    return this.#counters.get(counter)?.reservedTokens ?? 0;
  }

  isAwaited(counter: Counter): boolean {
    return this.#counters.get(counter)?.isAwaited ?? false;
  }

  /** At boot: an invocation holds its slots. */
  hold(counted: Counted): void {
    for (const counter of countersOf(counted)) this.#counters.state(counter).used++;
  }

  /** At boot: an invocation waits. They come in the order of queues and places. */
  restore({ id, queue, seq }: Queued): void {
    this.#queue(queue).add({ id, seq });
    this.nextSeq = Math.max(this.nextSeq, seq + 1);
  }

  /** Once all have been told, grants begin. */
  open(): void {
    for (const queue of this.#queues.values()) this.#enter(queue);
    this.#serve(GRANTS);
    this.#shares.all();
  }

  /** Takes over what a turn has done. It is called for every turn, in order. */
  apply(slots: Slots): void {
    const { changes, queued, settled, buckets, nextSeq } = slots;
    this.nextSeq = nextSeq;
    const freed = new Set<Counter>(this.#shares.apply(slots));
    for (const { counted, by } of changes) {
      for (const counter of countersOf(counted)) {
        const state = this.#counters.state(counter);
        state.used += by;
        this.#shares.mark(counter);
        if (by > 0) continue;
        if (state.isAwaited) freed.add(counter);
        else if (state.isIdle) this.#counters.delete(counter);
      }
    }
    for (const [counter, bucket] of buckets) this.setBucket(counter, bucket);
    for (const one of settled) this.#settle(one, freed);
    for (const one of queued) this.#add(one);
    for (const counter of freed) this.#serve(counter);
    if (settled.length > 0 || queued.length > 0) this.#serve(GRANTS);
    this.#shares.review();
  }

  /** No turn takes this grant, since a row that it needs cannot be decoded. */
  refused(grant: Settled): void {
    const freed = new Set([GRANTS]);
    this.#settle(grant, freed);
    for (const counter of freed) this.#serve(counter);
    this.#shares.review();
  }

  /** Limits, pauses or deployments have changed: grants all that may start now. */
  controlsChanged(): void {
    for (const counter of [...this.#counters.keys()]) {
      if (isPause(counter)) this.#enterAgain(counter);
      else this.#serve(counter);
    }
    this.#serve(GRANTS);
    this.#shares.all();
  }

  /** Queues in which something waits. */
  get waiting(): number {
    return this.#queues.size;
  }

  /** Invocations that wait and are in memory here. */
  get entries(): number {
    return [...this.#queues.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** The places of grants whose turns have not run. */
  get grants(): readonly number[] {
    return [...this.#granted.keys()];
  }

  /** What is counted, and what is reserved for grants, by counter. */
  counts(): ReadonlyMap<Counter, Pick<CounterState, "used" | "reserved">> {
    return this.#counters;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancelAlarm } of this.#counters.values()) cancelAlarm?.();
  }

  /** What a token bucket has. Undefined: it is full. */
  setBucket(counter: Counter, bucket: BucketState | undefined): void {
    const state = this.#counters.state(counter);
    state.bucket = bucket && { tokens: bucket.tokens, at: bucket.at };
    if (state.isIdle) this.#counters.delete(counter);
  }

  #add({ id, queue: name, seq }: Queued): void {
    const isNew = !this.#queues.has(name), queue = this.#queue(name);
    queue.add({ id, seq });
    if (isNew) this.#enter(queue);
  }

  #settle({ seq }: Settled, freed: Set<Counter>): void {
    const queue = this.#granted.get(seq);
    if (!queue) return;
    this.#granted.delete(seq);
    for (const counter of queue.counters) {
      const state = this.#counters.state(counter);
      state.reserved--;
      if (queue.isFirst) state.reservedTokens--;
      this.#shares.mark(counter);
      if (state.isAwaited) freed.add(counter);
      else if (state.isIdle) this.#counters.delete(counter);
    }
  }

  /** Has a queue wait where it must, or where grants are given out. */
  #enter(queue: WaitQueue): void {
    if (queue.length > 0) {
      const full = this.#fullFor(queue);
      this.#wait(queue, full?.counter ?? GRANTS);
      if (full?.rate) this.#expectToken(full.counter, full.rate);
    } else if (queue.isOver) {
      this.#queues.delete(queue.name);
      this.#shares.forget(queue);
    } else {
      queue.isUnread = true;
      this.#passes(queue, 1);
      this.#read(queue);
    }
  }

  /** Has each queue at a pause wait where it must: one may have another deployment now, and not the first. */
  #enterAgain(counter: Counter): void {
    const lanes = this.#counters.get(counter)?.lanes, queues = [...lanes ?? []];
    lanes?.clear();
    for (const queue of queues) this.#enter(queue);
  }

  #wait(queue: WaitQueue, counter: Counter): void {
    const { clock, priorityAgingMs: agingMs = PRIORITY_AGING_MS } = this.#options;
    const state = this.#counters.state(counter);
    state.lanes ??= new PriorityLanes<WaitQueue>({ agingMs });
    state.lanes.add(queue.parsed.lane, queue, clock.now());
    queue.waitsAt = counter;
    // Where it waits decides which slots are kept for it, of all its counters.
    for (const one of queue.counters) this.#shares.mark(one);
    if (counter === GRANTS) this.#passes(queue, 1);
  }

  /** A queue that waits at none of its counters: nobody may take what it is about to need. */
  #passes(queue: WaitQueue, by: 1 | -1): void {
    for (const counter of queue.counters) this.#counters.state(counter).elsewhere += by;
  }

  /** Gives grants to queues that wait at a counter, until it is full or none waits. */
  #serve(counter: Counter): void {
    const { clock } = this.#options;
    for (let isRated = false;;) {
      const lanes = this.#counters.get(counter)?.lanes;
      if (!lanes || lanes.size === 0 || this.#isStopped) return;
      const isEligible = isRated ? (lane: number) => lane % 2 === 1 : undefined;
      const lane = lanes.peekLane(clock.now(), isEligible);
      const queue = lane === undefined ? undefined : lanes.first(lane);
      if (!queue) return;
      const full = this.#fullFor(queue);
      if (full?.counter === counter) {
        if (!full.rate || isRated) return;
        // What has run before needs no token.
        this.#expectToken(counter, full.rate);
        isRated = true;
        continue;
      }
      lanes.next(clock.now(), isEligible);
      if (counter === GRANTS) this.#passes(queue, -1);
      if (full) this.#enter(queue);
      else this.#grant(queue, counter);
    }
  }

  /** Reserves slots for the head of a queue, which then goes to the end of those that wait with it. */
  #grant(queue: WaitQueue, counter: Counter): void {
    const entry = queue.shift();
    if (entry) {
      for (const one of queue.counters) {
        const state = this.#counters.state(one);
        state.reserved++;
        if (queue.isFirst) state.reservedTokens++;
      }
      this.#granted.set(entry.seq, queue);
      this.#options.send({ type: "granted", ...entry, reserved: queue.counters });
    }
    if (queue.length === 0) return this.#enter(queue);
    this.#read(queue);
    this.#wait(queue, counter);
  }

  /** Why the head of a queue has to wait. Undefined: it may be granted. */
  #fullFor(queue: WaitQueue): Full | undefined {
    const { grantsMax = GRANTS_MAX } = this.#options, schema = this.#options.schema();
    const full = firstFull(demandOfQueue(queue.parsed, schema), schema.controls, {
      hasSlot: (counter, limit) => this.taken(counter) < limit && this.#shares.hasSlot(counter),
      hasToken: (counter, rate) => this.#shares.hasToken(counter, rate),
    });
    if (full) return full;
    return this.#granted.size < grantsMax ? undefined : { counter: GRANTS, by: "concurrency" };
  }

  /** Looks at a counter again when it has its next token. Those of shared counters are given. */
  #expectToken(counter: Counter, rate: Rate): void {
    if (this.#shares.isShared(counter)) return;
    this.#counters.state(counter).expectToken(rate, this.#options.clock, () => {
      this.#serve(counter);
      // A queue may now wait for slots that other partitions have.
      this.#shares.review();
    });
  }

  /** Reads the next entries of a queue, if it needs some. */
  #read(queue: WaitQueue): void {
    if (!queue.isLow) return;
    const { load, onFailure } = this.#options;
    load(queue.name, queue.beginRead()).then((page) => {
      if (this.#isStopped) return;
      queue.endRead(page);
      if (queue.isUnread) this.#resume(queue);
    }).catch((cause) => {
      if (!this.#isStopped) onFailure(cause);
    });
  }

  #resume(queue: WaitQueue): void {
    queue.isUnread = false;
    this.#passes(queue, -1);
    this.#enter(queue);
    this.#serve(GRANTS);
    this.#shares.review();
  }

  #queue(name: string): WaitQueue {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = new WaitQueue(name, this.#options.queueWindow);
    this.#queues.set(name, queue);
    this.#shares.add(queue);
    return queue;
  }
}
