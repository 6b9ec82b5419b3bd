import { concatBytes, copyBytes } from "../bytes.ts";
import { ConnectionError } from "./connection_error.ts";
import type { FrameHead } from "./frame_reader.ts";
import { type HeaderBlock, HeaderCache } from "./header_cache.ts";
import { CONTINUATIONS_MAX, RECEIVED_HEADERS_BYTES_MAX } from "./limits.ts";
import { errorCode, flag } from "./protocol.ts";

/** Stream and weight, at the beginning of a HEADERS frame with the flag `priority`. */
export const PRIORITY_BYTES = 5;

/** A header block of a stream, once all of its frames are there. */
export interface ReceivedHeaders {
  readonly stream: number;
  readonly block: HeaderBlock;
  /** The response ends with it. */
  readonly isEnd: boolean;
}

/** A block whose frames are still coming (RFC 9113, section 4.3). */
interface Unfinished {
  readonly stream: number;
  readonly isEnd: boolean;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** Puts the header blocks of a connection together, and decodes them. Throws `ConnectionError`. */
export class HeaderBlocks {
  readonly #cache = new HeaderCache();
  #unfinished: Unfinished | undefined;

  /** Whether nothing but CONTINUATION may come. */
  get isUnfinished(): boolean {
    return this.#unfinished !== undefined;
  }

  /** A HEADERS frame with its payload from `at` to `end`. Undefined: its block goes on. */
  begin(
    { flags, stream }: FrameHead,
    bytes: Uint8Array,
    at: number,
    end: number,
  ): ReceivedHeaders | undefined {
    let from = at, to = end;
    if (flags & flag.padded) {
      if (from === to) throw new ConnectionError(errorCode.frameSizeError, "HEADERS of no bytes");
      to -= bytes[from++]!;
    }
    if (flags & flag.priority) from += PRIORITY_BYTES;
    if (from > to) {
      throw new ConnectionError(errorCode.protocolError, "HEADERS with more padding than bytes");
    }
    const isEnd = (flags & flag.endStream) !== 0;
    if (flags & flag.endHeaders) {
      return { stream, isEnd, block: this.#cache.decode(bytes, from, to) };
    }
    this.#unfinished = { stream, isEnd, parts: [copyBytes(bytes, from, to)], bytes: to - from };
    return undefined;
  }

  /** A CONTINUATION frame. Undefined: the block goes on. */
  continue(
    { flags, stream }: FrameHead,
    bytes: Uint8Array,
    at: number,
    end: number,
  ): ReceivedHeaders | undefined {
    const unfinished = this.#unfinished;
    if (unfinished?.stream !== stream) {
      throw new ConnectionError(errorCode.protocolError, "CONTINUATION of no header block");
    }
    const { parts, isEnd } = unfinished;
    parts.push(copyBytes(bytes, at, end));
    unfinished.bytes += end - at;
    if (unfinished.bytes > RECEIVED_HEADERS_BYTES_MAX || parts.length > CONTINUATIONS_MAX) {
      throw new ConnectionError(errorCode.enhanceYourCalm, "a header block that is too large");
    }
    if (!(flags & flag.endHeaders)) return undefined;
    this.#unfinished = undefined;
    const block = concatBytes(parts);
    return { stream, isEnd, block: this.#cache.decode(block, 0, block.length) };
  }
}
