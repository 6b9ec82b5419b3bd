import { copyBytes } from "../bytes.ts";
import { DECODED_MAX } from "./limits.ts";
import { type Fields, HeaderDecoder } from "./hpack/decoder.ts";
import { type ResponseHead, responseHead, wrongInTrailers } from "./response_head.ts";

/** What one header block is, as a head and as trailers. A string: what is wrong with it. */
export class HeaderBlock {
  readonly #fields: Fields;
  #head: ResponseHead | string | undefined;

  constructor(fields: Fields) {
    this.#fields = fields;
  }

  get head(): ResponseHead | string {
    return this.#head ??= this.#fields ? responseHead(this.#fields) : TOO_LARGE;
  }

  get wrongInTrailers(): string | undefined {
    return this.#fields ? wrongInTrailers(this.#fields) : TOO_LARGE;
  }
}

const TOO_LARGE = "headers that are too large";

interface Cached {
  readonly bytes: Uint8Array;
  readonly block: HeaderBlock;
}

/**
 * Decodes header blocks, and remembers them by their bytes while the table of headers stays the same:
 * most responses of an endpoint have the same few bytes.
 */
export class HeaderCache {
  readonly #decoder = new HeaderDecoder();
  readonly #cached = new Map<number, Cached>();
  #changes = 0;

  /** As `HeaderDecoder.decode`. */
  decode(bytes: Uint8Array, at: number, end: number): HeaderBlock {
    const hash = hashOf(bytes, at, end);
    const known = this.#cached.get(hash);
    if (known && isSame(known.bytes, bytes, at, end)) return known.block;
    const block = new HeaderBlock(this.#decoder.decode(bytes, at, end));
    if (this.#decoder.changes !== this.#changes) {
      // This block and all before it may mean something else from now on.
      this.#changes = this.#decoder.changes;
      this.#cached.clear();
      return block;
    }
    if (this.#cached.size >= DECODED_MAX) this.#cached.clear();
    this.#cached.set(hash, { bytes: copyBytes(bytes, at, end), block });
    return block;
  }
}

/** FNV-1a, of 32 bits. */
function hashOf(bytes: Uint8Array, at: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = at; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}

function isSame(known: Uint8Array, bytes: Uint8Array, at: number, end: number): boolean {
  if (known.length !== end - at) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[at + i]) return false;
  return true;
}
