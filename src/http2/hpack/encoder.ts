import { ENCODED_MAX, SENT_HEADERS_BYTES_MAX } from "../limits.ts";
import { staticField, staticName } from "./static_table.ts";

const INITIAL_BYTES = 4096;

type Method = "GET" | "POST";

/** Literal representations (RFC 7541, section 6.2): a proxy must never index the second kind. */
const PLAIN = 0x00;
const SECRET = 0x10;
const SECRETS: ReadonlySet<string> = new Set(["authorization", "proxy-authorization", "cookie"]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
/** Header names that HTTP/2 does not allow (RFC 9113, section 8.2.2). */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** A name in its bytes, and the last value that it had, with its bytes once it came twice. */
interface KnownName {
  readonly bytes: Uint8Array;
  value: string;
  encoded: Uint8Array | undefined;
}

/**
 * Encodes the headers of requests (RFC 7541). It uses no dynamic table, so that a block can be
 * encoded before it is known on which connection it goes, and names and values that repeat are
 * copied.
 */
export class HeaderEncoder {
  readonly #authority: string;
  /** Pseudo-headers by path, of requests without a header `host`. */
  readonly #starts = { GET: new Map<string, Uint8Array>(), POST: new Map<string, Uint8Array>() };
  readonly #names = new Map<string, KnownName>();
  #bytes = new Uint8Array(INITIAL_BYTES);
  #to = 0;

  /** `authority`: host and port of the endpoint. */
  constructor(authority: string) {
    this.#authority = authority;
  }

  /** What the last `encode` has made. Valid until the next one. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /**
   * Encodes a request, and returns how many of `bytes` it takes. Throws `RangeError` for a name or
   * value that HTTP/2 does not allow, and when they are larger than `SENT_HEADERS_BYTES_MAX`.
   */
  encode(method: Method, path: string, headers: Readonly<Record<string, string>>): number {
    this.#to = 0;
    const { host } = headers;
    if (host === undefined) this.#copy(this.#start(method, path));
    else this.#encodeStart(method, path, host);
    for (const name in headers) {
      // HTTP/2 has `:authority` instead, and both must not differ (RFC 9113, section 8.3.1).
      if (name !== "host") this.#header(name, headers[name]!);
    }
    return this.#to;
  }

  /** The pseudo-headers of a request, which repeat: attempts of one handler have the same. */
  #start(method: Method, path: string): Uint8Array {
    const starts = this.#starts[method];
    const known = starts.get(path);
    if (known) return known;
    this.#encodeStart(method, path, this.#authority);
    const start = this.#bytes.slice(0, this.#to);
    this.#to = 0;
    if (starts.size >= ENCODED_MAX) starts.clear();
    starts.set(path, start);
    return start;
  }

  #encodeStart(method: Method, path: string, authority: string): void {
    this.#pseudo(":method", method);
    this.#pseudo(":scheme", "http");
    this.#pseudo(":authority", authority);
    this.#pseudo(":path", path);
  }

  #pseudo(name: string, value: string): void {
    const index = staticField(name, value);
    if (index > 0) return this.#integer(index, 7, 0x80);
    this.#name(name, PLAIN);
    this.#text(name, value);
  }

  #header(name: string, value: string): void {
    let known = this.#names.get(name);
    if (!known) this.#names.set(name, known = this.#learn(name));
    if (known.value === value && known.encoded) return this.#copy(known.encoded);
    this.#copy(known.bytes);
    const from = this.#to;
    this.#text(name, value);
    if (known.value === value) {
      const { bytes } = known, text = this.#bytes.subarray(from, this.#to);
      known.encoded = new Uint8Array(bytes.length + text.length);
      known.encoded.set(bytes);
      known.encoded.set(text, bytes.length);
    } else {
      known.value = value;
      known.encoded = undefined;
    }
  }

  #learn(name: string): KnownName {
    const lower = name.toLowerCase();
    if (!TOKEN.test(lower)) throw new RangeError(`Cannot send a header named "${name}"`);
    if (OF_THE_CONNECTION.has(lower)) {
      throw new RangeError(`Cannot send the header "${lower}": HTTP/2 does not have it`);
    }
    const from = this.#to;
    this.#name(lower, SECRETS.has(lower) ? SECRET : PLAIN);
    const bytes = this.#bytes.slice(from, this.#to);
    this.#to = from;
    if (this.#names.size >= ENCODED_MAX) this.#names.clear();
    return { bytes, value: "", encoded: undefined };
  }

  #name(name: string, kind: number): void {
    const index = staticName(name);
    this.#integer(index, 4, kind);
    if (index === 0) this.#text(name, name);
  }

  /** A string without Huffman code: its bytes are cheaper to send than to compress. */
  #text(name: string, text: string): void {
    const value = withoutSpaces(text);
    const length = value.length;
    this.#integer(length, 7, 0);
    this.#reserve(length);
    const bytes = this.#bytes;
    let to = this.#to;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) {
        throw new RangeError(`Cannot send the header "${name}": HTTP does not allow its value`);
      }
      bytes[to++] = code;
    }
    this.#to = to;
  }

  /** An integer in `bits` bits of a byte and what follows (RFC 7541, section 5.1). */
  #integer(value: number, bits: number, first: number): void {
    this.#reserve(6);
    const max = (1 << bits) - 1;
    if (value < max) {
      this.#bytes[this.#to++] = first | value;
      return;
    }
    this.#bytes[this.#to++] = first | max;
    let rest = value - max;
    for (; rest > 0x7f; rest >>>= 7) this.#bytes[this.#to++] = rest & 0x7f | 0x80;
    this.#bytes[this.#to++] = rest;
  }

  #copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#to);
    this.#to += bytes.length;
  }

  #reserve(bytes: number): void {
    if (this.#to + bytes <= this.#bytes.length) return;
    if (this.#to + bytes > SENT_HEADERS_BYTES_MAX) {
      throw new RangeError(
        `Cannot send headers of more than ${SENT_HEADERS_BYTES_MAX} bytes`,
      );
    }
    const larger = new Uint8Array(2 * (this.#to + bytes));
    larger.set(this.#bytes.subarray(0, this.#to));
    this.#bytes = larger;
  }
}

/** HTTP/2 does not allow spaces and tabs around a value, which mean nothing in HTTP/1.1. */
function withoutSpaces(text: string): string {
  return isSpace(text.charCodeAt(0)) || isSpace(text.charCodeAt(text.length - 1))
    ? text.replace(/^[ \t]+/, "").replace(/[ \t]+$/, "")
    : text;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
