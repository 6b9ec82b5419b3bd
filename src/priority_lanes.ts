import { assert } from "./assert.ts";

/** Lanes 0 … 19: two for each priority from 0 to 9. */
const LANES_MAX = 20;

/** The capacity of a lane's ring before its first growth. A power of two, as all capacities. */
const CAPACITY_MIN = 8;

/** Says of a lane whether its items may be taken now. */
export type IsEligible = (lane: number) => boolean;

/**
 * What waits, in up to 20 lanes; a higher lane goes first, and lanes age, so that each is served.
 *
 * Within a lane: first in, first out. Between lanes: the highest score, which is `agingMs` for each
 * level of priority (two lanes) plus the age of the lane; of equal ones the higher lane. A lane's age
 * counts from when it stopped being empty or was last served, whichever is later. So while no lane is
 * ever empty, lane `l` is served at least every `(19 - l) / 2 × agingMs`, plus the time in which each
 * other lane is served once: after that time a lane that has just been served has a lower score.
 *
 * A clock that is set back adds no age and removes none. An item is here once at most.
 */
export class PriorityLanes<T extends NonNullable<unknown>> {
  readonly #agingMs: number;
  readonly #lanes: (Lane<T> | undefined)[] = [];
  /** The bits of the lanes that are not empty. */
  #busy = 0;
  /** By item: its number in its lane × 20 + the lane. */
  readonly #places = new Map<T, number>();
  /** The last `now`, and the time since the first one, without the steps back. Milliseconds. */
  #now = 0;
  #time = 0;

  /** `agingMs`: the time of waiting that is worth one level of priority. At least 1. */
  constructor({ agingMs }: { readonly agingMs: number }) {
    assert(agingMs >= 1, "A level of priority must be worth a millisecond at least");
    this.#agingMs = agingMs;
  }

  get size(): number {
    return this.#places.size;
  }

  /** How many items wait in a lane. */
  sizeOf(lane: number): number {
    return this.#lanes[lane]?.size ?? 0;
  }

  has(item: T): boolean {
    return this.#places.has(item);
  }

  /** Adds an item that is not here at the end of lane 0 … 19. `now`: milliseconds since the epoch. */
  add(lane: number, item: T, now: number): void {
    assert(lane >= 0 && lane < LANES_MAX, "A lane must be from 0 to 19");
    assert(!this.#places.has(item), "An item can only wait once");
    const time = this.#timeAt(now);
    const to = this.#lanes[lane] ??= new Lane<T>();
    if (to.size === 0) {
      to.since = time;
      this.#busy |= 1 << lane;
    }
    if (to.isFull) this.#resize(lane, to);
    this.#places.set(item, to.push(item) * LANES_MAX + lane);
  }

  /**
   * Removes and returns the first item of the eligible lane with the highest score at `now`, in
   * milliseconds since the epoch. Undefined: no such lane has an item.
   */
  next(now: number, isEligible?: IsEligible): { lane: number; item: T } | undefined {
    const lane = this.peekLane(now, isEligible);
    if (lane === undefined) return undefined;
    const from = this.#lane(lane);
    const item = from.first();
    assert(item !== undefined, "A busy lane must have an item");
    from.since = this.#time;
    this.#remove(item, lane);
    return { lane, item };
  }

  /** The lane that `next` would serve. Undefined: none. */
  peekLane(now: number, isEligible?: IsEligible): number | undefined {
    const time = this.#timeAt(now);
    let best: number | undefined;
    let bestScore = -Infinity;
    for (let bits = this.#busy; bits !== 0;) {
      const lane = 31 - Math.clz32(bits);
      bits ^= 1 << lane;
      const score = lane / 2 * this.#agingMs + time - this.#lane(lane).since;
      if (score <= bestScore || isEligible && !isEligible(lane)) continue;
      best = lane;
      bestScore = score;
    }
    return best;
  }

  /** The item of a lane that is served first. Undefined: the lane is empty. */
  first(lane: number): T | undefined {
    return this.#lanes[lane]?.first();
  }

  /** Removes an item wherever it waits. Answers whether it was here. */
  delete(item: T): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#remove(item, place % LANES_MAX);
    return true;
  }

  clear(): void {
    this.#lanes.length = 0;
    this.#places.clear();
    this.#busy = 0;
  }

  /** All items of a lane in their order. None may be added or removed meanwhile. */
  *valuesOf(lane: number): Generator<T> {
    yield* this.#lanes[lane]?.values() ?? [];
  }

  /** All items, from the highest lane to the lowest. None may be added or removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (let lane = LANES_MAX - 1; lane >= 0; lane--) yield* this.valuesOf(lane);
  }

  #remove(item: T, lane: number): void {
    const place = this.#places.get(item);
    assert(place !== undefined, "An item that is removed must have a place");
    this.#places.delete(item);
    const from = this.#lane(lane);
    from.remove((place - lane) / LANES_MAX);
    if (from.size === 0) this.#busy &= ~(1 << lane);
    if (from.isSparse) this.#resize(lane, from);
  }

  /** Moves the items of a lane to a ring of twice their number, which has no gaps. */
  #resize(lane: number, from: Lane<T>): void {
    from.resize();
    let number = 0;
    for (const item of from.values()) this.#places.set(item, number++ * LANES_MAX + lane);
  }

  #lane(lane: number): Lane<T> {
    const found = this.#lanes[lane];
    assert(found, "A busy lane must exist");
    return found;
  }

  #timeAt(now: number): number {
    if (now > this.#now) this.#time += now - this.#now;
    this.#now = now;
    return this.#time;
  }
}

/** A ring of items by number, with gaps where items were removed. The first number is no gap. */
class Lane<T> {
  /** When it stopped being empty or was last served, whichever is later. */
  since = 0;
  size = 0;
  #ring: (T | undefined)[] = emptyRing(CAPACITY_MIN);
  /** The number of the first item, and of the next one to come. */
  #head = 0;
  #tail = 0;

  get isFull(): boolean {
    return this.#tail - this.#head === this.#ring.length;
  }

  /** Whether the ring is much larger than what is in it. */
  get isSparse(): boolean {
    return this.#ring.length > CAPACITY_MIN && this.size * 8 < this.#ring.length;
  }

  /** Adds an item, which must have room, and returns its number. */
  push(item: T): number {
    this.#ring[this.#at(this.#tail)] = item;
    this.size++;
    return this.#tail++;
  }

  first(): T | undefined {
    return this.#ring[this.#at(this.#head)];
  }

  remove(number: number): void {
    this.#ring[this.#at(number)] = undefined;
    this.size--;
    while (this.#head < this.#tail && this.first() === undefined) this.#head++;
  }

  /** Numbers the items from 0. */
  resize(): void {
    let capacity = CAPACITY_MIN;
    while (capacity < this.size * 2) capacity *= 2;
    const ring = emptyRing<T>(capacity);
    let tail = 0;
    for (const item of this.values()) ring[tail++] = item;
    this.#ring = ring;
    this.#head = 0;
    this.#tail = tail;
  }

  *values(): Generator<T> {
    for (let number = this.#head; number < this.#tail; number++) {
      const item = this.#ring[this.#at(number)];
      if (item !== undefined) yield item;
    }
  }

  #at(number: number): number {
    return number & this.#ring.length - 1;
  }
}

function emptyRing<T>(capacity: number): (T | undefined)[] {
  return new Array<T | undefined>(capacity).fill(undefined);
}
