import { type Field, STATIC_TABLE } from "./static_table.ts";

/** What a header takes in a table in addition to its name and value (RFC 7541, section 4.1). */
const FIELD_BYTES = 32;

/** Bytes of a header, as tables and limits count them. */
export function sizeOf({ name, value }: Field): number {
  return name.length + value.length + FIELD_BYTES;
}

/**
 * The headers that the endpoint has added, after the static ones: the newest has the first index, and
 * the oldest are dropped when there is no room (RFC 7541, sections 2.3 and 4).
 */
export class DynamicTable {
  readonly #bytesMax: number;
  /** Oldest first. Those before `#first` were dropped. */
  #fields: Field[] = [];
  #first = 0;
  #bytes = 0;
  #bytesLimit: number;

  /** `bytesMax`: the size that was announced to the endpoint. */
  constructor(bytesMax: number) {
    this.#bytesMax = this.#bytesLimit = bytesMax;
  }

  /** The header with an index, over both tables. Undefined: there is none. */
  get(index: number): Field | undefined {
    if (index <= STATIC_TABLE.length) return STATIC_TABLE[index - 1];
    const at = this.#fields.length - (index - STATIC_TABLE.length);
    return at >= this.#first ? this.#fields[at] : undefined;
  }

  /** Adds a header. One that is larger than the table empties it. */
  add(field: Field): void {
    const bytes = sizeOf(field);
    this.#drop(this.#bytesLimit - bytes);
    if (bytes > this.#bytesLimit) return;
    this.#fields.push(field);
    this.#bytes += bytes;
  }

  /** The endpoint uses that much of the table from now on. Returns whether it may. */
  resize(bytes: number): boolean {
    if (bytes > this.#bytesMax) return false;
    this.#bytesLimit = bytes;
    this.#drop(bytes);
    return true;
  }

  /** Drops the oldest headers until all take `bytes` at most. */
  #drop(bytes: number): void {
    while (this.#bytes > bytes && this.#first < this.#fields.length) {
      this.#bytes -= sizeOf(this.#fields[this.#first++]!);
    }
    if (this.#first * 2 < this.#fields.length) return;
    this.#fields.splice(0, this.#first);
    this.#first = 0;
  }
}
