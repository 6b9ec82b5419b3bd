/**
 * A map of entries that come and go quickly.
 *
 * V8 keeps the contents of a map in a table, and makes a new table whenever one is used up. The old
 * one is garbage, but it points to the new one and to all that was in the map at that moment; once
 * it has grown old it is not collected for seconds, and neither is what it points to. So what leaves
 * a busy map stays in memory, is copied, and is moved to the old generation: of an attempt, all there
 * is. Here only a slot stays, and that is empty.
 */
export class SlotMap<K, V> {
  readonly #slots = new Map<K, { value: V | undefined }>();

  get size(): number {
    return this.#slots.size;
  }

  get(key: K): V | undefined {
    return this.#slots.get(key)?.value;
  }

  set(key: K, value: V): void {
    const slot = this.#slots.get(key);
    if (slot) slot.value = value;
    else this.#slots.set(key, { value });
  }

  /** Answers whether there was such an entry. */
  delete(key: K): boolean {
    const slot = this.#slots.get(key);
    if (!slot) return false;
    slot.value = undefined;
    return this.#slots.delete(key);
  }

  clear(): void {
    for (const slot of this.#slots.values()) slot.value = undefined;
    this.#slots.clear();
  }

  /** In the order in which they came. Entries may come and go meanwhile. */
  *values(): Generator<V> {
    for (const { value } of this.#slots.values()) if (value !== undefined) yield value;
  }
}
