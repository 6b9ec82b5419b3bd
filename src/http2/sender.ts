import { ConnectionError } from "./connection_error.ts";
import { SENT_FRAME_BYTES_MAX } from "./limits.ts";
import type { Output } from "./output.ts";
import { errorCode, flag, frameType, INT31_MAX, WINDOW_BYTES_INITIAL } from "./protocol.ts";

/** The sending half of a stream. Only `Sender` changes it. */
export interface SendingStream {
  readonly id: number;
  /** Bytes that the endpoint still takes on this stream. Negative after it has lowered its windows. */
  sendWindow: number;
  /** What waits for a window or for the transport. Undefined: nothing. */
  unsent: Uint8Array[] | undefined;
  unsentBytes: number;
  /** The request ends behind what waits. */
  isEnding: boolean;
  /** The request has ended, or never will. */
  isSent: boolean;
  /** All that waited was sent. */
  drained(): void;
  /** The request has ended. */
  sent(): void;
}

/**
 * Sends the bodies of requests as DATA, as far as the windows of the endpoint allow and the transport
 * takes them. Streams that wait take turns, a frame each.
 */
export class Sender {
  readonly #output: Output;
  #window = WINDOW_BYTES_INITIAL;
  #initialWindow = WINDOW_BYTES_INITIAL;
  /** Streams with unsent bytes. Next comes the first. */
  readonly #waiting: SendingStream[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  /** The window of a stream that is opened now. */
  get initialWindow(): number {
    return this.#initialWindow;
  }

  /** Sends bytes, or keeps those that must wait. Returns whether all were sent. */
  write(stream: SendingStream, bytes: Uint8Array): boolean {
    if (stream.isEnding || stream.isSent || bytes.length === 0) return true;
    let at = 0;
    if (!stream.unsent) {
      while (at < bytes.length) {
        const length = this.#allowed(stream, bytes.length - at);
        if (length <= 0) break;
        this.#data(stream, at === 0 ? bytes : bytes.subarray(at), length, 0);
        at += length;
      }
      if (at === bytes.length) return true;
      stream.unsent = [];
      this.#waiting.push(stream);
    }
    stream.unsent.push(at === 0 ? bytes : bytes.subarray(at));
    stream.unsentBytes += bytes.length - at;
    return false;
  }

  /** Writes what was sent, also by other streams, without waiting for the end of the tick. */
  flush(): void {
    this.#output.flush();
  }

  /** Ends a request, behind what was written. */
  end(stream: SendingStream): void {
    if (stream.isEnding || stream.isSent) return;
    stream.isEnding = true;
    if (!stream.unsent) this.#end(stream);
  }

  /** Drops what waits. */
  drop(stream: SendingStream): void {
    stream.isSent = true;
    if (!stream.unsent) return;
    stream.unsent = undefined;
    stream.unsentBytes = 0;
    const index = this.#waiting.indexOf(stream);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  /** The endpoint takes more. `stream`: on that stream; undefined: on all together. */
  enlarge(bytes: number, stream: SendingStream | undefined): boolean {
    if (stream) {
      if (stream.sendWindow + bytes > INT31_MAX) return false;
      stream.sendWindow += bytes;
    } else {
      if (this.#window + bytes > INT31_MAX) return false;
      this.#window += bytes;
    }
    this.pump();
    return true;
  }

  /**
   * The endpoint has changed the window of every stream (RFC 9113, section 6.9.2). Throws
   * `ConnectionError` when one is beyond 2^31-1. The caller pumps.
   */
  resize(bytes: number, streams: Iterable<SendingStream>): void {
    const change = bytes - this.#initialWindow;
    this.#initialWindow = bytes;
    for (const stream of streams) {
      stream.sendWindow += change;
      if (stream.sendWindow <= INT31_MAX) continue;
      throw new ConnectionError(errorCode.flowControlError, "a window of more than 2^31-1 bytes");
    }
  }

  /** Sends what waits, as far as it may be sent now. */
  pump(): void {
    // Streams in a row whose own window is closed: when all are, none is left to try.
    let closed = 0;
    while (closed < this.#waiting.length && this.#window > 0 && !this.#output.isBlocked) {
      const stream = this.#waiting.shift()!;
      if (this.#sendFrame(stream, stream.unsent!)) closed = 0;
      else closed++;
      if (stream.unsent) this.#waiting.push(stream);
      else if (stream.isEnding) this.#sent(stream);
      else stream.drained();
    }
  }

  /** Sends one frame of a stream that waits. Returns whether its window allowed any. */
  #sendFrame(stream: SendingStream, unsent: Uint8Array[]): boolean {
    const first = unsent[0]!;
    const length = this.#allowed(stream, first.length);
    if (length <= 0) return false;
    stream.unsentBytes -= length;
    if (length < first.length) unsent[0] = first.subarray(length);
    else unsent.shift();
    if (unsent.length === 0) stream.unsent = undefined;
    const isEnd = unsent.length === 0 && stream.isEnding;
    this.#data(stream, first, length, isEnd ? flag.endStream : 0);
    return true;
  }

  #allowed(stream: SendingStream, bytes: number): number {
    if (this.#output.isBlocked) return 0;
    return Math.min(bytes, SENT_FRAME_BYTES_MAX, stream.sendWindow, this.#window);
  }

  /** Appends a frame with the first `length` bytes. */
  #data(stream: SendingStream, bytes: Uint8Array, length: number, flags: number): void {
    stream.sendWindow -= length;
    this.#window -= length;
    this.#output.head(length, frameType.data, flags, stream.id);
    this.#output.append(bytes, 0, length);
  }

  #end(stream: SendingStream): void {
    this.#output.head(0, frameType.data, flag.endStream, stream.id);
    this.#sent(stream);
  }

  #sent(stream: SendingStream): void {
    stream.isSent = true;
    stream.sent();
  }
}
