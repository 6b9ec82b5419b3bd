/** Entries that are kept in a list. Finding one among more is quicker in a map. */
const FEW = 4;
/** Shared by all that are empty: never changed in place. */
const NONE: never[] = [];

/**
 * A map that mostly has one entry, or none. An empty `Map` takes some 200 bytes, which the garbage
 * collector copies twice while they are young: of an invocation that was as much as its rows. Here a few
 * entries are a list of keys and values in turn; more than four become a map.
 *
 * Iterations are in the order of insertion. Entries must not come or go meanwhile.
 */
export class SmallMap<K, V> {
  #few: (K | V)[] = NONE;
  #many: Map<K, V> | undefined;

  get size(): number {
    return this.#many ? this.#many.size : this.#few.length / 2;
  }

  get(key: K): V | undefined {
    if (this.#many) return this.#many.get(key);
    const at = this.#find(key);
    return at < 0 ? undefined : this.#few[at + 1] as V;
  }

  has(key: K): boolean {
    return this.#many ? this.#many.has(key) : this.#find(key) >= 0;
  }

  set(key: K, value: V): void {
    if (this.#many) return void this.#many.set(key, value);
    const at = this.#find(key);
    if (at >= 0) this.#few[at + 1] = value;
    else if (this.#few.length === 2 * FEW) this.#many = new Map([...this]).set(key, value);
    // A list that grows by `push` reserves room for 16 more.
    else this.#few = this.#few.length === 0 ? [key, value] : [...this.#few, key, value];
    if (this.#many) this.#few = NONE;
  }

  delete(key: K): void {
    if (this.#many) return void this.#many.delete(key);
    const at = this.#find(key);
    if (at >= 0) this.#few = this.#few.toSpliced(at, 2);
  }

  clear(): void {
    this.#few = NONE;
    this.#many = undefined;
  }

  /** All values, in an array of the caller's own. */
  values(): V[] {
    if (this.#many) return [...this.#many.values()];
    const values: V[] = [];
    for (let at = 1; at < this.#few.length; at += 2) values.push(this.#few[at] as V);
    return values;
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    if (this.#many) return yield* this.#many;
    for (let at = 0; at < this.#few.length; at += 2) {
      yield [this.#few[at] as K, this.#few[at + 1] as V];
    }
  }

  #find(key: K): number {
    for (let at = 0; at < this.#few.length; at += 2) if (this.#few[at] === key) return at;
    return -1;
  }
}
