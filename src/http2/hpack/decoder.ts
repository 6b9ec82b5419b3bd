import { ConnectionError } from "../connection_error.ts";
import { HEADER_TABLE_BYTES, RECEIVED_HEADERS_BYTES_MAX } from "../limits.ts";
import { errorCode } from "../protocol.ts";
import { DynamicTable, sizeOf } from "./dynamic_table.ts";
import { decodeHuffman } from "./huffman.ts";
import type { Field } from "./static_table.ts";

/** The headers of one block. Undefined: they are larger than `RECEIVED_HEADERS_BYTES_MAX`. */
export type Fields = readonly Field[] | undefined;

/** Bytes of an integer after its prefix: enough for 28 bits, more than any length here. */
const INTEGER_BYTES_MAX = 4;

/** Decodes the header blocks of a connection, in their order (RFC 7541). */
export class HeaderDecoder {
  readonly #table = new DynamicTable(HEADER_TABLE_BYTES);
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;
  #changes = 0;

  /** Changes with every change of the table: a block means the same while it stays the same. */
  get changes(): number {
    return this.#changes;
  }

  /** Decodes the bytes from `at` to `end`. Throws `ConnectionError` when they are no header block. */
  decode(bytes: Uint8Array, at: number, end: number): Fields {
    [this.#bytes, this.#at, this.#end] = [bytes, at, end];
    const fields: Field[] = [];
    let size = 0;
    this.#resize();
    while (this.#at < this.#end) {
      const field = this.#field();
      size += sizeOf(field);
      // The rest is decoded all the same: it may change the table.
      if (size <= RECEIVED_HEADERS_BYTES_MAX) fields.push(field);
    }
    this.#bytes = bytes.subarray(0, 0);
    return size <= RECEIVED_HEADERS_BYTES_MAX ? fields : undefined;
  }

  /** Changes of the table's size stand at the beginning of a block only (RFC 7541, section 4.2). */
  #resize(): void {
    while (this.#at < this.#end && (this.#bytes[this.#at]! & 0xe0) === 0x20) {
      const bytes = this.#integer(5);
      this.#changes++;
      if (!this.#table.resize(bytes)) {
        throw bad(`a table of headers of ${bytes} bytes, of ${HEADER_TABLE_BYTES} at most`);
      }
    }
  }

  #field(): Field {
    const first = this.#bytes[this.#at]!;
    if (first & 0x80) return this.#indexed(this.#integer(7));
    if (first & 0x40) {
      const field = this.#literal(6);
      this.#changes++;
      this.#table.add(field);
      return field;
    }
    if (first & 0x20) throw bad("a change of the table of headers within a block");
    return this.#literal(4);
  }

  #indexed(index: number): Field {
    const field = this.#table.get(index);
    if (!field) throw bad(`a header with index ${index}, which there is not`);
    return field;
  }

  #literal(bits: number): Field {
    const index = this.#integer(bits);
    const name = index === 0 ? this.#text() : this.#indexed(index).name;
    return { name, value: this.#text() };
  }

  /** An integer whose first byte has `bits` bits of it (RFC 7541, section 5.1). */
  #integer(bits: number): number {
    if (this.#at >= this.#end) throw bad("a header block that ends within a header");
    const max = (1 << bits) - 1;
    let value = this.#bytes[this.#at++]! & max;
    if (value < max) return value;
    for (let i = 0; i < INTEGER_BYTES_MAX; i++) {
      if (this.#at >= this.#end) throw bad("a header block that ends within an integer");
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) << 7 * i;
      if (byte < 0x80) return value;
    }
    throw bad("an integer that is too long in a header block");
  }

  /** A string (RFC 7541, section 5.2), each character being one byte. */
  #text(): string {
    if (this.#at >= this.#end) throw bad("a header block that ends within a header");
    const isHuffman = (this.#bytes[this.#at]! & 0x80) !== 0;
    const length = this.#integer(7);
    const from = this.#at, to = from + length;
    if (to > this.#end) throw bad("a header block that ends within a string");
    this.#at = to;
    if (!isHuffman) return latin1(this.#bytes, from, to);
    const text = decodeHuffman(this.#bytes, from, to);
    if (text === undefined) throw bad("a string that is no Huffman code in a header block");
    return text;
  }
}

function bad(message: string): ConnectionError {
  return new ConnectionError(errorCode.compressionError, message);
}

function latin1(bytes: Uint8Array, at: number, end: number): string {
  let text = "";
  for (let i = at; i < end; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}
