/** Seeded chance: small, fast, and the only source of it in a simulation. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    // Neighboring seeds must not begin alike: two rounds of a good mixer part them.
    this.#state = mixed(mixed(seed + 1) ^ 0x9e3779b9) || 1;
  }

  /** A number in [0, 1). */
  next(): number {
    let x = this.#state;
    x ^= x << 13, x ^= x >>> 17, x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state / 0x1_0000_0000;
  }

  /** Whether something of this probability happens. Draws nothing when it cannot. */
  happens(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  /** A whole number, both ends included. */
  int(min: number, max: number): number {
    return min >= max ? min : min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.next() * list.length)];
    if (one === undefined) throw new RangeError("Cannot pick from an empty list");
    return one;
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => Math.floor(this.next() * 256));
  }
}

function mixed(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
  x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
  return (x ^ (x >>> 15)) >>> 0;
}
