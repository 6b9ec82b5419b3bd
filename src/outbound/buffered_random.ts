import type { Random } from "../ports.ts";

const BLOCK_BYTES = 4096;
const ENTROPY_BYTES = 16;

/**
 * Random bytes and numbers in small pieces, cut from one block: asking the platform for each would
 * cost more than the rest of a frame.
 */
export class BufferedRandom {
  readonly #random: Random;
  #block: Uint8Array = new Uint8Array(0);
  #used = 0;
  #seed: number;

  constructor(random: Random) {
    this.#random = random;
    const [a = 0, b = 0, c = 0, d = 0] = random(4);
    this.#seed = a | b << 8 | c << 16 | d << 24;
  }

  /** 16 unpredictable bytes. */
  entropy(): Uint8Array {
    if (this.#used + ENTROPY_BYTES > this.#block.length) {
      this.#block = this.#random(BLOCK_BYTES);
      this.#used = 0;
    }
    return this.#block.subarray(this.#used, this.#used += ENTROPY_BYTES);
  }

  /** A number in [0, 1), good enough for jitter (mulberry32). */
  next(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ this.#seed >>> 15, 1 | this.#seed);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 4_294_967_296;
  }
}
