import { ConnectionError } from "./connection_error.ts";
import { type FrameHandler, type FrameHead, readInt31, readInt32 } from "./frame_reader.ts";
import { type Goaway, GOAWAY_BYTES, readGoaway } from "./goaway.ts";
import { HeaderBlocks, PRIORITY_BYTES, type ReceivedHeaders } from "./header_blocks.ts";
import { CONNECTION_WINDOW_BYTES } from "./limits.ts";
import { errorCode, flag, frameType, PING_BYTES } from "./protocol.ts";
import { type PeerSettings, readSettings } from "./settings.ts";
import type { Http2Stream, StreamError } from "./stream.ts";

/** What frames of an endpoint do to a connection. */
export interface Receiving {
  /** Whether the connection is over, so that no further frame is read. */
  readonly isOver: boolean;
  /** Whether the endpoint has sent its first settings. */
  readonly isReady: boolean;
  /** A stream that is open. */
  stream(id: number): Http2Stream | undefined;
  /** Whether a stream has this number, or had it. */
  wasOpened(id: number): boolean;
  settings(settings: PeerSettings): void;
  answerPing(bytes: Uint8Array, at: number): void;
  pingAnswered(): void;
  goaway(goaway: Goaway): void;
  /** The endpoint takes more on a stream, or on all of them. Returns whether that is possible. */
  enlarged(bytes: number, stream: Http2Stream | undefined): boolean;
  /** Lets the endpoint send more on the connection. */
  credit(bytes: number): void;
}

/** The endpoint may send more once so much was received. */
const CREDIT_BYTES = CONNECTION_WINDOW_BYTES / 2;

/**
 * Checks the frames of a connection, and applies them to it and to its streams (RFC 9113, sections 5
 * and 6). Throws `ConnectionError` for what the connection does not survive.
 */
export class Receiver implements FrameHandler {
  readonly #connection: Receiving;
  readonly #blocks = new HeaderBlocks();
  /** Bytes received since the last credit. */
  #received = 0;
  /** The current DATA frame: its stream, if that is open, and what it consists of. */
  #stream: Http2Stream | undefined;
  #length = 0;
  #isEnd = false;
  /** Bytes of the body that are still to come. -1: not known before the length of the padding. */
  #bodyLeft = 0;

  constructor(connection: Receiving) {
    this.#connection = connection;
  }

  get isOver(): boolean {
    return this.#connection.isOver;
  }

  dataBegins(flags: number, id: number, length: number): void {
    this.#checkPlace(frameType.data, 0);
    this.#checkOpened("DATA", id);
    this.#account(length);
    const isPadded = (flags & flag.padded) !== 0;
    if (isPadded && length === 0) throw wrongSize("DATA", length);
    this.#length = length;
    this.#bodyLeft = isPadded ? -1 : length;
    this.#isEnd = (flags & flag.endStream) !== 0;
    const stream = this.#stream = this.#connection.stream(id);
    if (stream) this.#refuseIf(stream, stream.dataBegins(length));
  }

  data(bytes: Uint8Array, at: number, end: number): void {
    let from = at;
    if (this.#bodyLeft < 0) {
      this.#bodyLeft = this.#length - 1 - bytes[from++]!;
      if (this.#bodyLeft < 0) throw broken("DATA with more padding than bytes");
      // Padding counts in windows, and is read at once.
      this.#stream?.consumed(this.#length - this.#bodyLeft);
    }
    const to = Math.min(end, from + this.#bodyLeft);
    if (to === from) return;
    this.#bodyLeft -= to - from;
    const stream = this.#stream;
    if (stream) this.#refuseIf(stream, stream.data(bytes.subarray(from, to)));
  }

  dataEnds(): void {
    const stream = this.#stream;
    if (!stream) return;
    if (this.#isEnd) this.#refuseIf(stream, stream.received());
    this.#stream = undefined;
  }

  frame(head: FrameHead, bytes: Uint8Array, at: number, end: number): void {
    this.#checkPlace(head.type, head.flags);
    switch (head.type) {
      case frameType.headers:
        this.#checkOpened("HEADERS", head.stream);
        return this.#headers(this.#blocks.begin(head, bytes, at, end));
      case frameType.continuation:
        return this.#headers(this.#blocks.continue(head, bytes, at, end));
      case frameType.rstStream:
        checkSize("RST_STREAM", end - at, 4);
        this.#checkOpened("RST_STREAM", head.stream);
        return this.#connection.stream(head.stream)?.wasReset(readInt32(bytes, at));
      case frameType.windowUpdate:
        return this.#windowUpdate(head, bytes, at, end);
      case frameType.settings:
        return this.#settings(head, bytes, at, end);
      case frameType.ping:
        checkConnection("PING", head);
        checkSize("PING", end - at, PING_BYTES);
        if (head.flags & flag.ack) this.#connection.pingAnswered();
        else this.#connection.answerPing(bytes, at);
        return;
      case frameType.goaway:
        return this.#goaway(head, bytes, at, end);
      case frameType.priority:
        return this.#priority(head, end - at);
      case frameType.pushPromise:
        throw broken("PUSH_PROMISE, which the settings forbid");
    }
  }

  /** The first frame is SETTINGS, and between the frames of a header block there are no others. */
  #checkPlace(type: number, flags: number): void {
    if (this.#blocks.isUnfinished && type !== frameType.continuation) {
      throw broken("another frame within a header block");
    }
    if (this.#connection.isReady) return;
    if (type !== frameType.settings || flags & flag.ack) throw broken("no SETTINGS at first");
  }

  #checkOpened(name: string, id: number): void {
    if (!this.#connection.wasOpened(id)) throw broken(`${name} on stream ${id}, which is not open`);
  }

  /** The connection reads all bytes at once: only the windows of streams hold an endpoint back. */
  #account(length: number): void {
    this.#received += length;
    if (this.#received < CREDIT_BYTES) return;
    this.#connection.credit(this.#received);
    this.#received = 0;
  }

  #headers(received: ReceivedHeaders | undefined): void {
    if (!received) return;
    const stream = this.#connection.stream(received.stream);
    if (stream) this.#refuseIf(stream, stream.headers(received.block, received.isEnd));
  }

  #refuseIf(stream: Http2Stream, error: StreamError | undefined): void {
    if (!error) return;
    this.#stream = undefined;
    stream.refuse(error);
  }

  #windowUpdate({ stream: id }: FrameHead, bytes: Uint8Array, at: number, end: number): void {
    checkSize("WINDOW_UPDATE", end - at, 4);
    const increment = readInt31(bytes, at);
    const what = increment === 0
      ? "WINDOW_UPDATE of 0 bytes"
      : "a window of more than 2^31-1 bytes";
    const code = increment === 0 ? errorCode.protocolError : errorCode.flowControlError;
    if (id === 0) {
      if (increment > 0 && this.#connection.enlarged(increment, undefined)) return;
      throw new ConnectionError(code, what);
    }
    this.#checkOpened("WINDOW_UPDATE", id);
    const stream = this.#connection.stream(id);
    if (!stream || (increment > 0 && this.#connection.enlarged(increment, stream))) return;
    this.#refuseIf(stream, { code, message: what });
  }

  #settings(head: FrameHead, bytes: Uint8Array, at: number, end: number): void {
    checkConnection("SETTINGS", head);
    if (head.flags & flag.ack) checkSize("the acknowledgement of SETTINGS", end - at, 0);
    else this.#connection.settings(readSettings(bytes, at, end));
  }

  #goaway(head: FrameHead, bytes: Uint8Array, at: number, end: number): void {
    checkConnection("GOAWAY", head);
    if (end - at < GOAWAY_BYTES) throw wrongSize("GOAWAY", end - at);
    this.#connection.goaway(readGoaway(bytes, at, end));
  }

  /** Priorities of responses are for servers; here only the frame is checked. */
  #priority({ stream: id }: FrameHead, length: number): void {
    if (id === 0) throw broken("PRIORITY on no stream");
    const stream = this.#connection.stream(id);
    if (length === PRIORITY_BYTES || !stream) return;
    const message = `PRIORITY of ${length} bytes`;
    this.#refuseIf(stream, { code: errorCode.frameSizeError, message });
  }
}

function broken(what: string): ConnectionError {
  return new ConnectionError(errorCode.protocolError, what);
}

function wrongSize(name: string, length: number): ConnectionError {
  return new ConnectionError(errorCode.frameSizeError, `${name} of ${length} bytes`);
}

function checkSize(name: string, length: number, expected: number): void {
  if (length !== expected) throw wrongSize(name, length);
}

function checkConnection(name: string, { stream }: FrameHead): void {
  if (stream !== 0) throw broken(`${name} on stream ${stream}`);
}
