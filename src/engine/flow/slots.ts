import type { Rows } from "../../model/rows.ts";
import { type Counted, type Counter, countersOf } from "./counters.ts";

/** What a turn knows of the counters of its partition. */
export interface SlotView {
  /** Slots that are held. */
  held(counter: Counter): number;
  /** Slots that are held, and those that are reserved for `granted`. */
  taken(counter: Counter): number;
  /** Tokens of its bucket that are reserved for `granted`. */
  reservedTokens(counter: Counter): number;
  /** Whether queues wait at it. */
  isAwaited(counter: Counter): boolean;
}

/** A slot was taken, or given back. */
export interface SlotChange {
  readonly counted: Counted;
  readonly by: 1 | -1;
}

/** An invocation began to wait, or waits in another queue than before. */
export interface Queued {
  readonly id: string;
  readonly queue: string;
  readonly seq: number;
}

/** A grant that the turn has used, or found to be void. */
export type Settled = Pick<Queued, "id" | "seq">;

/** A bank had `given` slots for its own partition, which has `slots`: a row is damaged (decision 069). */
export interface Corrected {
  readonly counter: Counter;
  readonly given: number;
  readonly slots: number;
}

const NOTHING_TAKEN: SlotView = {
  held: () => 0,
  taken: () => 0,
  reservedTokens: () => 0,
  isAwaited: () => false,
};

/**
 * What a turn does with slots: it reads what the turns before have left, with its own changes on top.
 * The partition takes the changes over once the turn is complete.
 */
export class Slots {
  readonly changes: SlotChange[] = [];
  readonly queued: Queued[] = [];
  readonly settled: Settled[] = [];
  /** The token buckets that it has read or written, as it leaves them. Undefined: full. */
  readonly buckets = new Map<Counter, Rows["bucket"] | undefined>();
  /** What it has found or written of shared counters. */
  readonly shares: Rows["share"][] = [];
  readonly banks: Rows["bank"][] = [];
  /** Shared counters whose event (`SharesEvent`) it has applied. */
  readonly reviewed: Counter[] = [];
  /** Banks that it has corrected. */
  readonly corrected: Corrected[] = [];
  /** The place of the next one that has to wait. Never given twice by a partition. */
  nextSeq: number;
  readonly #view: SlotView;
  /** Sums of the first `#summed` changes. */
  readonly #sums = new Map<Counter, number>();
  /** Reservations that have ended. */
  readonly #ended = new Map<Counter, number>();
  #summed = 0;
  readonly #awaited = new Set<Counter>();

  constructor(view: SlotView = NOTHING_TAKEN, nextSeq = 0) {
    this.#view = view;
    this.nextSeq = nextSeq;
  }

  change(counted: Counted, by: 1 | -1): void {
    this.changes.push({ counted, by });
  }

  /** A grant ends with this turn: what was reserved for it in `reserved` is free. */
  settle(grant: Settled, reserved: readonly Counter[]): void {
    this.settled.push(grant);
    for (const one of reserved) this.#ended.set(one, (this.#ended.get(one) ?? 0) + 1);
  }

  /** Slots that are held, with what this turn has done so far. */
  held(counter: Counter): number {
    return this.#view.held(counter) + this.#changeOf(counter);
  }

  /** Slots that are held or reserved, with what this turn has done so far. */
  taken(counter: Counter): number {
    const ended = this.#ended.get(counter) ?? 0;
    return this.#view.taken(counter) + this.#changeOf(counter) - ended;
  }

  #changeOf(counter: Counter): number {
    for (; this.#summed < this.changes.length; this.#summed++) {
      const { counted, by } = this.changes[this.#summed]!;
      for (const one of countersOf(counted)) this.#sums.set(one, (this.#sums.get(one) ?? 0) + by);
    }
    return this.#sums.get(counter) ?? 0;
  }

  /** Those of grants that this turn has settled included: who has no grant waits rather too long. */
  reservedTokens(counter: Counter): number {
    return this.#view.reservedTokens(counter);
  }

  isAwaited(counter: Counter): boolean {
    return this.#awaited.has(counter) || this.#view.isAwaited(counter);
  }

  /** An invocation waits. `counter`: the one that was full. */
  wait(queued: Queued, counter: Counter): void {
    this.queued.push(queued);
    this.#awaited.add(counter);
  }
}
