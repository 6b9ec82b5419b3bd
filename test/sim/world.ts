import { Chance } from "./chance.ts";

interface Alarm {
  readonly due: number;
  readonly seq: number;
  readonly call: () => void;
  isCanceled: boolean;
}

/** How long a simulation may go on before it counts as stuck. */
export interface Budget {
  readonly alarmsMax: number;
  /** Moment of simulated time, on the clock that never steps. */
  readonly until: number;
}

/**
 * Virtual time and seeded chance. Nothing in a simulation happens except by an alarm that was set
 * here. Time passes on `mono`, which never steps; what it is for people is `wall`; what a server
 * believes it to be, its own clock says (`process.ts`).
 */
export class World {
  readonly chance: Chance;
  /** What happened, one short line each: two runs of a seed must have the same. */
  readonly trace: string[] = [];
  /** Milliseconds. */
  mono = 1_000_000;
  /** What good clocks show, less `mono`. */
  #offsetMs = 0;
  /** The latest time that any clock showed. */
  #latest = 0;
  #seq = 0;
  readonly #heap: Alarm[] = [];

  constructor(seed: number) {
    this.chance = new Chance(seed);
  }

  get wall(): number {
    return this.mono + this.#offsetMs;
  }

  /** The latest moment that any clock ever showed. */
  get latest(): number {
    return Math.max(this.#latest, this.wall);
  }

  /** Somebody's clock shows this. */
  saw(now: number): number {
    if (now > this.#latest) this.#latest = now;
    return now;
  }

  /** Sets all clocks forward. */
  skip(ms: number): void {
    this.#offsetMs += ms;
  }

  log(line: string): void {
    this.trace.push(`${this.mono - 1_000_000} ${line}`);
  }

  /** Calls back once, `ms` from now. Alarms of one moment ring in the order they were set. */
  after(ms: number, call: () => void): () => void {
    const due = this.mono + Math.max(0, ms);
    const alarm: Alarm = { due, seq: this.#seq++, call, isCanceled: false };
    push(this.#heap, alarm);
    return () => alarm.isCanceled = true;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Rings alarms until `done`, or until nothing is left, or the budget is spent. */
  async run(done: () => boolean, { alarmsMax, until }: Budget): Promise<boolean> {
    await settled();
    for (let rung = 0; rung < alarmsMax && !done();) {
      if ((this.#heap[0]?.due ?? Infinity) > until) break;
      const next = pop(this.#heap);
      if (!next) break;
      if (next.isCanceled) continue;
      rung++;
      this.mono = next.due;
      next.call();
      await settled();
    }
    return done();
  }
}

/** Lets every promise that can move, move: what is computed takes no simulated time. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isBefore(a: Alarm, b: Alarm): boolean {
  return a.due < b.due || (a.due === b.due && a.seq < b.seq);
}

function push(heap: Alarm[], alarm: Alarm): void {
  let at = heap.push(alarm) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    const above = heap[up];
    if (!above || isBefore(above, alarm)) break;
    heap[at] = above;
    at = up;
  }
  heap[at] = alarm;
}

function pop(heap: Alarm[]): Alarm | undefined {
  const first = heap[0], last = heap.pop();
  if (!last || heap.length === 0) return last;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    const left = heap[down], right = heap[down + 1];
    if (left && right && isBefore(right, left)) down++;
    const below = heap[down];
    if (!below || isBefore(last, below)) break;
    heap[at] = below;
    at = down;
  }
  heap[at] = last;
  return first;
}
