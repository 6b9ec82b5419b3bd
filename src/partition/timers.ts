import { type Timer, timerItem } from "../model/rows.ts";
import { type Clock, CLOCK_LOOK_MS } from "../ports.ts";

export interface TimersOptions {
  readonly clock: Clock;
  /** How many timers are kept in memory; the later ones stay in the store only. */
  readonly timersMax: number;
  /** Timers after this one in order of (due, id, item), from the store, at most `limit`. */
  readonly load: (after: Timer | undefined, limit: number) => Promise<readonly Timer[]>;
  /** Sends the event of a timer. Its sender then calls `handled`, once the event is durable or refused. */
  readonly fire: (timer: Timer) => void;
  readonly onFailure: (cause: unknown) => void;
  /** As `FIRED_MAX`. */
  readonly firedMax?: number;
}

/**
 * Timers that have fired and are not handled yet. Further ones that are due wait: behind a million of them in
 * the mailbox, calls and ends of attempts would wait for minutes.
 */
const FIRED_MAX = 512;

/**
 * The alarm of a partition. Every timer is a row; the earliest are also in a heap. Timers beyond
 * `#horizon` are in the store only, and are loaded when the heap is empty. So the heap must hold none
 * from beyond it: it would not become empty in time. A timer that is added twice fires twice, which
 * does no harm: its row is gone the second time.
 */
export class Timers {
  readonly #options: TimersOptions;
  #heap: Timer[] = [];
  /** All timers up to this one are in memory. Undefined: all timers are. */
  #horizon: Timer | undefined;
  #isLoading = false;
  #isStopped = false;
  #alarm: { due: number; cancel: () => void } | undefined;
  #fired = 0;
  readonly #firedMax: number;

  constructor(options: TimersOptions) {
    this.#options = options;
    this.#firedMax = options.firedMax ?? FIRED_MAX;
  }

  /** Reads the first timers from the store, at boot. */
  async open(): Promise<void> {
    await this.#refill();
  }

  add(timer: Timer): void {
    if (this.#isStopped) return;
    // While a page is being loaded it is unknown whether the page has this timer.
    if (!this.#isLoading && this.#horizon && order(timer, this.#horizon) > 0) return;
    push(this.#heap, timer);
    // A timer that is cut off now might be missing in the page, and yet lie before its horizon.
    if (!this.#isLoading && this.#heap.length > 2 * this.#options.timersMax) this.#trim();
    this.#arm();
  }

  /** Timers in memory. */
  get size(): number {
    return this.#heap.length;
  }

  /** A timer that has fired is over: its event is durable, or was refused. */
  handled(): void {
    this.#fired--;
    this.#arm();
  }

  stop(): void {
    this.#isStopped = true;
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#heap = [];
  }

  #trim(): void {
    this.#heap.sort(order);
    this.#heap.length = this.#options.timersMax;
    this.#horizon = this.#heap.at(-1);
  }

  #arm(): void {
    const first = this.#heap[0];
    if (!first || this.#isStopped || this.#fired >= this.#firedMax) return;
    if (this.#alarm && this.#alarm.due <= first.due) return;
    this.#alarm?.cancel();
    const { clock } = this.#options;
    // A clock that is set forward makes later timers due.
    const due = Math.min(first.due, clock.now() + CLOCK_LOOK_MS);
    this.#alarm = { due: first.due, cancel: clock.at(due, () => this.#ring()) };
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.#options.clock.now();
    for (
      let first = this.#heap[0];
      first && first.due <= now && this.#fired < this.#firedMax;
      first = this.#heap[0]
    ) {
      pop(this.#heap);
      this.#fired++;
      this.#options.fire(first);
    }
    if (this.#heap.length === 0 && this.#horizon) {
      this.#refill().catch((cause) => this.#options.onFailure(cause));
    }
    this.#arm();
  }

  async #refill(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const limit = this.#options.timersMax;
      const page = await this.#options.load(this.#horizon, limit);
      if (this.#isStopped) return;
      const horizon = page.length < limit ? undefined : page.at(-1);
      this.#horizon = horizon;
      if (horizon) this.#heap = this.#heap.filter((one) => order(one, horizon) <= 0).sort(order);
      for (const timer of page) push(this.#heap, timer);
    } finally {
      this.#isLoading = false;
    }
    this.#arm();
  }
}

/** The order in which timers fire, and in which the store pages them. */
export function order(a: Timer, b: Timer): number {
  if (a.due !== b.due) return a.due - b.due;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  const left = timerItem(a), right = timerItem(b);
  return left === right ? 0 : left < right ? -1 : 1;
}

/** A binary heap by `due`. */
function push(heap: Timer[], timer: Timer): void {
  let at = heap.push(timer) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const above = heap[up];
    if (!above || above.due <= timer.due) break;
    heap[at] = above;
    at = up;
  }
  heap[at] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    const left = heap[down], right = heap[down + 1];
    if (left && right && right.due < left.due) down++;
    const below = heap[down];
    if (!below || below.due >= last.due) break;
    heap[at] = below;
    at = down;
  }
  heap[at] = last;
}
