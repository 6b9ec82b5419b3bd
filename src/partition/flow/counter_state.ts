import { type BucketState, TOKEN, tokensAt, whenTokens } from "../../engine/flow/bucket.ts";
import type { Counter } from "../../engine/flow/counters.ts";
import type { Rate } from "../../model/limits.ts";
import type { Rows } from "../../model/rows.ts";
import { type Clock, CLOCK_LOOK_MS } from "../../ports.ts";
import type { PriorityLanes } from "../../priority_lanes.ts";
import type { WaitQueue } from "./wait_queue.ts";

/** What a partition knows of one counter. */
export class CounterState {
  /** Invocations that hold a slot of it. */
  used = 0;
  /** Slots, and tokens, that are reserved for grants whose turn has not run. */
  reserved = 0;
  reservedTokens = 0;
  /** Queues that wait at it. Absent: none ever did. */
  lanes: PriorityLanes<WaitQueue> | undefined;
  /**
   * Queues that need it and wait at no counter: none of their entries is in memory, or it has room and
   * there are as many grants as there may be.
   */
  elsewhere = 0;
  /** What a turn has last found or written. Absent: unknown, or full. */
  bucket: BucketState | undefined;
  /** Of a shared counter (decision 051). Absent: unknown. */
  share: Rows["share"] | undefined;
  /** Of a shared counter whose home is here. */
  bank: Rows["bank"] | undefined;
  /** Of a shared counter: all queues whose invocations need a slot of it, wherever they wait. */
  readonly queues = new Set<WaitQueue>();
  /** An event about the share was sent, whose turn has not run. */
  isReviewing = false;
  /** Cancels the look at the next token. */
  cancelAlarm: (() => void) | undefined;

  /** Slots that nobody else may take. */
  get taken(): number {
    return this.used + this.reserved;
  }

  get isAwaited(): boolean {
    return this.elsewhere > 0 || this.lanes !== undefined && this.lanes.size > 0;
  }

  /** Whether nothing is known of it that must be kept. */
  get isIdle(): boolean {
    const isUnused = this.used === 0 && this.reserved === 0 && !this.isAwaited;
    return isUnused && !this.bucket && !this.share && !this.bank && this.queues.size === 0;
  }

  /** Slots of the share that are neither held nor reserved. Less than 0: too many are. */
  get idleSlots(): number {
    return (this.share?.slots ?? 0) - this.used - this.reserved;
  }

  /** Starts of the share that are not reserved. */
  get idleStarts(): number {
    return (this.share?.starts ?? 0) - this.reservedTokens;
  }

  /** Millionths of a token that are not reserved. */
  tokens(rate: Rate, now: number): number {
    return tokensAt(this.bucket, rate, now) - this.reservedTokens * TOKEN;
  }

  /** Calls back when the bucket has its next token, in place of an earlier call. */
  expectToken(rate: Rate, clock: Clock, call: () => void): void {
    // After its clock was set back, a bucket gets nothing until it is as late as before.
    const now = Math.max(clock.now(), this.bucket?.at ?? 0);
    this.cancelAlarm?.();
    const due = whenTokens(this.tokens(rate, now), TOKEN, { rate, now });
    this.cancelAlarm = clock.at(Math.min(due, clock.now() + CLOCK_LOOK_MS), () => {
      this.cancelAlarm = undefined;
      call();
    });
  }
}

/** What a partition knows of its counters. */
export class Counters extends Map<Counter, CounterState> {
  /** The state of a counter, which is made if need be. */
  state(counter: Counter): CounterState {
    let state = this.get(counter);
    if (!state) this.set(counter, state = new CounterState());
    return state;
  }
}
