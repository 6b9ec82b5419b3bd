import { copyBytes } from "../bytes.ts";
import type { DialFailure, DialListener, Exchange } from "../dial.ts";
import type { HeaderBlock } from "./header_cache.ts";
import { STREAM_WINDOW_BYTES } from "./limits.ts";
import { errorCode, printCode } from "./protocol.ts";
import type { Sender, SendingStream } from "./sender.ts";

/** What a stream needs of its connection. */
export interface StreamHost {
  readonly sender: Sender;
  /** Sends RST_STREAM. */
  reset(stream: Http2Stream, code: number): void;
  /** Lets the endpoint send `bytes` more on this stream. */
  creditStream(stream: Http2Stream, bytes: number): void;
  /** Both halves are over: forgets the stream. */
  finished(stream: Http2Stream): void;
}

/** What is wrong with a frame of one stream, which then is reset: the code, and a message. */
export interface StreamError {
  readonly code: number;
  readonly message: string;
}

/** The endpoint may send more once so much was read. */
const CREDIT_BYTES = STREAM_WINDOW_BYTES / 2;

/** Responses without a body, which may announce the length that it would have. */
const BODILESS: readonly number[] = [204, 304];

/** An endpoint that is overloaded resets streams so, and has read nothing of them. */
const BUSY: readonly number[] = [errorCode.refusedStream, errorCode.enhanceYourCalm];

const wrong = (code: number, message: string): StreamError => ({ code, message });

/** One stream of a connection: one exchange. */
export class Http2Stream implements Exchange, SendingStream {
  readonly id: number;
  sendWindow: number;
  unsent: Uint8Array[] | undefined;
  unsentBytes = 0;
  isEnding = false;
  isSent = false;
  readonly #host: StreamHost;
  /** Undefined once the listener was notified of the end, or the exchange was aborted. */
  #listener: DialListener | undefined;
  #hasHead = false;
  /** The response is complete, though parts of it may be held. */
  #isReceived = false;
  /** Bytes of the body that the head has announced and that did not arrive. Undefined: unknown. */
  #missing: number | undefined;
  #receiveWindow = STREAM_WINDOW_BYTES;
  /** Bytes that were read since the last credit. */
  #read = 0;
  #isPaused = false;
  /** What arrived while the response was paused, and how it ended. */
  #held: Uint8Array[] | undefined;
  #outcome: DialFailure | "end" | undefined;

  constructor(host: StreamHost, id: number, listener: DialListener) {
    this.#host = host;
    this.id = id;
    this.#listener = listener;
    this.sendWindow = host.sender.initialWindow;
  }

  write(bytes: Uint8Array): boolean {
    return this.#host.sender.write(this, bytes);
  }

  end(): void {
    this.#host.sender.end(this);
  }

  flush(): void {
    this.#host.sender.flush();
  }

  abort(): void {
    this.#listener = undefined;
    this.#held = undefined;
    this.close(errorCode.cancel);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    // Later, because a listener that resumes does not expect to be called at once.
    if (this.#held || this.#outcome) queueMicrotask(() => this.#release());
  }

  /** Ends both halves at once, with RST_STREAM unless both have ended already. */
  close(code: number): void {
    if (this.isSent && this.#isReceived) return;
    this.#isReceived = true;
    this.#host.sender.drop(this);
    this.#host.reset(this, code);
    this.#host.finished(this);
  }

  /** The endpoint broke a rule on this stream: resets it. */
  refuse({ code, message }: StreamError): void {
    const wasReceived = this.#isReceived;
    this.close(code);
    const what = `the endpoint broke HTTP/2: it sent ${message}`;
    if (!wasReceived) this.#finish({ kind: "reset", message: what });
  }

  /** The endpoint sent RST_STREAM. Before a response, two codes mean that it took nothing of it. */
  wasReset(code: number): void {
    const isBusy = !this.#hasHead && BUSY.includes(code);
    const message = `stream reset with code ${printCode(code)}`;
    this.fail({ kind: isBusy ? "busy" : "reset", message });
  }

  /** The endpoint or the connection ended the stream: its listener is told why. */
  fail(failure: DialFailure): void {
    this.#host.sender.drop(this);
    const wasReceived = this.#isReceived;
    this.#isReceived = true;
    this.#host.finished(this);
    // A complete response stays one, though the request was not read to its end.
    if (!wasReceived) this.#finish(failure);
  }

  drained(): void {
    this.#listener?.drain();
  }

  sent(): void {
    if (this.#isReceived) this.#host.finished(this);
  }

  /** A header block: the head of the response, one before it (1xx), or trailers. */
  headers(block: HeaderBlock, isEnd: boolean): StreamError | undefined {
    if (this.#isReceived) return wrong(errorCode.streamClosed, "headers behind the response");
    if (this.#hasHead) {
      const why = isEnd ? block.wrongInTrailers : "a second head of a response";
      if (why !== undefined) return wrong(errorCode.protocolError, why);
      return this.received();
    }
    const { head } = block;
    if (typeof head === "string") return wrong(errorCode.protocolError, head);
    if (head.status < 200) {
      return isEnd ? wrong(errorCode.protocolError, `status ${head.status} at the end`) : undefined;
    }
    this.#hasHead = true;
    this.#missing = BODILESS.includes(head.status) ? undefined : head.contentLength;
    this.#listener?.head(head);
    return isEnd ? this.received() : undefined;
  }

  /** A DATA frame with `length` bytes of payload begins. */
  dataBegins(length: number): StreamError | undefined {
    if (this.#isReceived) return wrong(errorCode.streamClosed, "a body behind the response");
    if (!this.#hasHead) return wrong(errorCode.protocolError, "a body before its head");
    this.#receiveWindow -= length;
    if (this.#receiveWindow >= 0) return undefined;
    return wrong(errorCode.flowControlError, "more bytes than its window allows");
  }

  /** Some of the body, valid during the call only. */
  data(bytes: Uint8Array): StreamError | undefined {
    if (this.#missing !== undefined && (this.#missing -= bytes.length) < 0) {
      return wrong(errorCode.protocolError, "a body that is longer than its content-length");
    }
    if (this.#isPaused || this.#held) {
      (this.#held ??= []).push(copyBytes(bytes));
      return undefined;
    }
    this.#listener?.chunk(bytes);
    this.consumed(bytes.length);
    return undefined;
  }

  /** Bytes of the response were read, or were padding. */
  consumed(bytes: number): void {
    this.#read += bytes;
    if (this.#read < CREDIT_BYTES || this.#isReceived) return;
    this.#receiveWindow += this.#read;
    this.#host.creditStream(this, this.#read);
    this.#read = 0;
  }

  /** The response is complete. */
  received(): StreamError | undefined {
    if (this.#isReceived) return undefined;
    if (this.#missing !== undefined && this.#missing > 0) {
      return wrong(errorCode.protocolError, "a body that is shorter than its content-length");
    }
    this.#isReceived = true;
    if (this.isSent) this.#host.finished(this);
    this.#finish("end");
    return undefined;
  }

  #finish(outcome: DialFailure | "end"): void {
    this.#outcome = outcome;
    if (!this.#isPaused && !this.#held) this.#settle();
  }

  #settle(): void {
    const listener = this.#listener, outcome = this.#outcome;
    this.#listener = this.#outcome = undefined;
    if (outcome === "end") listener?.end();
    else if (outcome) listener?.failed(outcome);
  }

  /** Passes on what was held, as long as the listener does not pause again. */
  #release(): void {
    while (this.#held && !this.#isPaused) {
      const bytes = this.#held.shift();
      if (!bytes) {
        this.#held = undefined;
        break;
      }
      this.#listener?.chunk(bytes);
      this.consumed(bytes.length);
    }
    if (!this.#held && !this.#isPaused && this.#outcome) this.#settle();
  }
}
