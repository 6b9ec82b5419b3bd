import { SENT_FRAME_BYTES_MAX } from "./limits.ts";
import type { Output } from "./output.ts";
import { flag, frameType } from "./protocol.ts";

/** A request whose headers are encoded. */
export interface RequestHead {
  /** A header block, in the first `length` bytes. Used during the call only. */
  readonly block: Uint8Array;
  readonly length: number;
  /** It has no body. */
  readonly isEnd: boolean;
}

/** Appends a header block, in as many frames as it needs (RFC 9113, sections 6.2 and 6.10). */
export function sendHead(output: Output, id: number, { block, length, isEnd }: RequestHead): void {
  let at = 0;
  do {
    const end = Math.min(length, at + SENT_FRAME_BYTES_MAX);
    const type = at === 0 ? frameType.headers : frameType.continuation;
    const flags = (at === 0 && isEnd ? flag.endStream : 0) | (end === length ? flag.endHeaders : 0);
    output.head(end - at, type, flags, id);
    output.copy(block, at, end);
    at = end;
  } while (at < length);
}
