/** Opens one HTTP exchange with an endpoint, full duplex where the platform can. */
export interface Dial {
  /**
   * Whether a request must end before its response begins: then its attempt is request-response.
   * Absent: no request must.
   */
  isHalfDuplex?(request: DialRequest): boolean;
  /**
   * Why there may be no connection to the host of a URL, as far as that is known before its name is
   * resolved: `open` would fail with `forbidden`. Absent: nothing is known before.
   */
  readonly refusal?: (url: URL) => ForbiddenAddress | undefined;
  open(request: DialRequest, listener: DialListener): Exchange;
  close(): Promise<void>;
}

export interface DialRequest {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  /**
   * `h1`: HTTP/1.1. `h2`: HTTP/2, with prior knowledge over cleartext, by ALPN over TLS. `alpn`:
   * TLS only, whatever is negotiated.
   */
  readonly version: "h1" | "h2" | "alpn";
  readonly connectTimeoutMs: number;
}

/** Called in this order: head once, chunks, then end or failed once. Nothing after abort(). */
export interface DialListener {
  head(head: DialHead): void;
  /** `bytes` are valid during the call only: the next ones may be read into the same memory. */
  chunk(bytes: Uint8Array): void;
  end(): void;
  failed(failure: DialFailure): void;
  /** The request body has room again after `write` answered false. */
  drain(): void;
}

export interface DialHead {
  readonly status: number;
  readonly httpVersion: "HTTP/1.0" | "HTTP/1.1" | "HTTP/2.0";
  /** Lower-case name. */
  header(name: string): string | undefined;
}

export interface DialFailure {
  /**
   * `unreachable`: no connection. `http1`: an HTTP/1.1 server where HTTP/2 was expected. `reset`:
   * the stream or connection broke. `refused`: an intermediary refuses the request, now and later.
   * `busy`: the endpoint had no room for the stream, and has read nothing of it. `forbidden`: the
   * server may not connect to this address, and has not (docs/operate.md#outbound-requests).
   * `unauthenticated`: the request was not sent, because what it would show cannot be had.
   */
  readonly kind:
    | "unreachable"
    | "http1"
    | "reset"
    | "refused"
    | "busy"
    | "forbidden"
    | "unauthenticated";
  readonly message: string;
}

export interface Exchange {
  /** Returns false when the buffer is full: wait for `drain`. The bytes were taken in any case. */
  write(bytes: Uint8Array): boolean;
  /** Closes the request body. */
  end(): void;
  /** Sends at once what else would be sent with all of this tick. Absent: it cannot. */
  flush?(): void;
  /** Ends the exchange at once (RST_STREAM CANCEL, or closes the connection). */
  abort(): void;
  /** `pause` stops reading the response and `resume` continues: back-pressure on the endpoint. */
  pause(): void;
  resume(): void;
}

/** The server may not connect to an address (docs/operate.md#outbound-requests). Says why. */
export class ForbiddenAddress extends Error {
  override name = "ForbiddenAddress";
}
