import type { DialListener, Exchange } from "../dial.ts";
import { SlotMap } from "../slot_map.ts";
import type { ByteListener, ByteStream, OpenByteStream } from "./byte_stream.ts";
import { ConnectionError } from "./connection_error.ts";
import { FrameReader } from "./frame_reader.ts";
import type { Goaway } from "./goaway.ts";
import { CONNECTION_WINDOW_BYTES, OWED_FRAMES_MAX } from "./limits.ts";
import { Output } from "./output.ts";
import {
  errorCode,
  flag,
  frameType,
  INT31_MAX,
  PING_BYTES,
  PREFACE,
  WINDOW_BYTES_INITIAL,
} from "./protocol.ts";
import { Receiver, type Receiving } from "./receiver.ts";
import { type RequestHead, sendHead } from "./send_head.ts";
import { Sender } from "./sender.ts";
import { type PeerSettings, sendSettings } from "./settings.ts";
import { Http2Stream, type StreamHost } from "./stream.ts";

/** Notified by a connection, never from within a method that is not about receiving. */
export interface ConnectionOwner {
  /** There is a connection. It may turn out not to speak HTTP/2. */
  opened(): void;
  /** The endpoint's first settings arrived: streams may be opened. */
  ready(): void;
  /** A stream has ended, or the endpoint allows more of them. */
  room(): void;
  /** The endpoint takes no more streams. Those that are open go on. */
  retired(): void;
  /** The endpoint has answered a PING. */
  pinged(): void;
  /** It is over, and so are all streams. `message`: why. `cause`: the error of its byte stream. */
  closed(message: string, cause?: Error): void;
}

const PREFACE_BYTES = new TextEncoder().encode(PREFACE);
const PING_PAYLOAD = new Uint8Array(PING_BYTES);
const CLOSED = "connection closed";

/**
 * The client's side of one HTTP/2 connection with prior knowledge (RFC 9113), on a byte stream. All
 * that an endpoint can do wrong ends its stream or this connection, with a message.
 */
export class Connection implements Receiving, StreamHost, ByteListener {
  readonly sender: Sender;
  readonly #owner: ConnectionOwner;
  readonly #output: Output;
  readonly #reader = new FrameReader(new Receiver(this));
  readonly #streams = new SlotMap<number, Http2Stream>();
  readonly #bytes: ByteStream;
  #next = 1;
  #streamsMax = 0;
  #isReady = false;
  /** No streams are opened any more. */
  #isRetired = false;
  #isOver = false;
  /** Frames that the endpoint has made us send since the last write. */
  #owed = 0;
  /** Why the endpoint sent GOAWAY, if it gave a reason. */
  #reason: string | undefined;

  constructor(open: OpenByteStream, owner: ConnectionOwner) {
    this.#owner = owner;
    this.#output = new Output(() => this.#written());
    this.sender = new Sender(this.#output);
    this.#output.copy(PREFACE_BYTES, 0, PREFACE_BYTES.length);
    sendSettings(this.#output);
    this.credit(CONNECTION_WINDOW_BYTES - WINDOW_BYTES_INITIAL);
    this.#bytes = open(this);
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Streams that the endpoint allows at once. 0 before `ready`. */
  get streamsMax(): number {
    return this.#streamsMax;
  }

  /** Bytes that wait to be sent. */
  get queuedBytes(): number {
    let bytes = this.#output.bytes;
    for (const stream of this.#streams.values()) bytes += stream.unsentBytes;
    return bytes;
  }

  /** Opens a stream and sends its head. Must not be called beyond `streamsMax`, or once retired. */
  open(head: RequestHead, listener: DialListener): Exchange {
    const stream = new Http2Stream(this, this.#next, listener);
    this.#next += 2;
    this.#streams.set(stream.id, stream);
    sendHead(this.#output, stream.id, head);
    if (head.isEnd) stream.isSent = true;
    if (this.#next > INT31_MAX) this.#retire();
    return stream;
  }

  ping(): void {
    this.#output.head(PING_BYTES, frameType.ping, 0, 0);
    this.#output.copy(PING_PAYLOAD, 0, PING_BYTES);
  }

  /** Opens no more streams, and closes with the last one. */
  retire(): void {
    if (this.#isOver) return;
    this.#retire();
    this.#closeIfDone();
  }

  /** Closes at once. All streams fail with `message`. */
  destroy(message: string): void {
    if (this.#isOver) return;
    this.#bytes.destroy();
    this.#end(message);
  }

  /** See `ByteStream`. */
  hold(isHeld: boolean): void {
    if (!this.#isOver) this.#bytes.hold(isHeld);
  }

  opened(): void {
    if (this.#isOver) return;
    this.#output.attach(this.#bytes);
    this.#owner.opened();
  }

  received(bytes: Uint8Array): void {
    if (this.#isOver) return;
    try {
      this.#reader.push(bytes);
    } catch (cause) {
      if (!(cause instanceof ConnectionError)) throw cause;
      this.#close(cause.code, cause.message);
    }
  }

  drained(): void {
    if (!this.#isOver) this.#output.drained();
  }

  closed(error?: Error): void {
    if (!this.#isOver) this.#end(error?.message || this.#reason || CLOSED, error);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  stream(id: number): Http2Stream | undefined {
    return this.#streams.get(id);
  }

  wasOpened(id: number): boolean {
    return (id & 1) === 1 && id < this.#next;
  }

  settings({ streamsMax, initialWindow }: PeerSettings): void {
    this.#owe(0, frameType.settings, flag.ack, 0);
    if (initialWindow !== undefined) {
      this.sender.resize(initialWindow, this.#streams.values());
      this.sender.pump();
    }
    // An endpoint that allows no streams refuses one, which is tried again later.
    if (streamsMax !== undefined) this.#streamsMax = Math.max(1, streamsMax);
    if (this.#isReady) return this.#owner.room();
    if (streamsMax === undefined) this.#streamsMax = Infinity;
    this.#isReady = true;
    this.#owner.ready();
  }

  answerPing(bytes: Uint8Array, at: number): void {
    this.#owe(PING_BYTES, frameType.ping, flag.ack, 0);
    this.#output.copy(bytes, at, at + PING_BYTES);
  }

  pingAnswered(): void {
    this.#owner.pinged();
  }

  /** Streams after the last one were not taken, so that their requests may be repeated. */
  goaway({ last, code, message }: Goaway): void {
    if (code !== errorCode.noError) this.#reason = message;
    this.#retire();
    for (const stream of [...this.#streams.values()]) {
      if (stream.id > last) stream.fail({ kind: "busy", message });
    }
    this.#closeIfDone();
  }

  enlarged(bytes: number, stream: Http2Stream | undefined): boolean {
    return this.sender.enlarge(bytes, stream);
  }

  credit(bytes: number): void {
    this.#windowUpdate(0, bytes);
  }

  creditStream({ id }: Http2Stream, bytes: number): void {
    this.#windowUpdate(id, bytes);
  }

  reset({ id }: Http2Stream, code: number): void {
    this.#output.head(4, frameType.rstStream, 0, id);
    this.#output.int32(code);
  }

  finished({ id }: Http2Stream): void {
    if (!this.#streams.delete(id) || this.#isOver) return;
    this.#closeIfDone();
    this.#owner.room();
  }

  #windowUpdate(id: number, bytes: number): void {
    this.#output.head(4, frameType.windowUpdate, 0, id);
    this.#output.int32(bytes);
  }

  /** Appends the head of a frame that the endpoint caused. */
  #owe(length: number, type: number, flags: number, id: number): void {
    this.#owed++;
    if (this.#owed > OWED_FRAMES_MAX && this.#output.isBlocked) {
      const what = `frames that ask for ${OWED_FRAMES_MAX} others, and it does not read`;
      throw new ConnectionError(errorCode.enhanceYourCalm, what);
    }
    this.#output.head(length, type, flags, id);
  }

  #written(): void {
    this.#owed = 0;
    this.sender.pump();
  }

  #retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#owner.retired();
  }

  /** Closes a retired connection that has no streams. */
  #closeIfDone(): void {
    if (this.#isRetired && this.#streams.size === 0) this.#close(errorCode.noError, "");
  }

  /** Closes, and says why where the endpoint broke the rules. */
  #close(code: number, message: string): void {
    if (this.#isOver) return;
    const debug = new TextEncoder().encode(message);
    this.#output.head(8 + debug.length, frameType.goaway, 0, 0);
    this.#output.int32(0);
    this.#output.int32(code);
    this.#output.copy(debug, 0, debug.length);
    this.#output.flush();
    this.#bytes.end();
    this.#end(message === "" ? CLOSED : `the endpoint broke HTTP/2: it sent ${message}`);
  }

  #end(message: string, cause?: Error): void {
    this.#isOver = true;
    this.#retire();
    this.#output.detach();
    for (const stream of [...this.#streams.values()]) stream.fail({ kind: "reset", message });
    this.#owner.closed(message, cause);
  }
}
