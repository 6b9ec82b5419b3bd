import http2, { type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import type { DialHead, DialListener, Exchange } from "../../src/dial.ts";
import { describe } from "./h1.ts";

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
  http2.constants;

/** One stream of an HTTP/2 session. */
export class H2Exchange implements Exchange {
  readonly #stream: ClientHttp2Stream;
  /** Undefined once the stream is closed: Node keeps closed streams in memory for a while. */
  #listener: DialListener | undefined;
  #over = false;
  #error: Error | undefined;
  /** Data that arrived before the head, as it does on Deno. Undefined once the head arrived. */
  #early: Uint8Array[] | undefined = [];
  #endedEarly = false;

  /** `closed` is called when the stream is closed, after everything else. */
  constructor(stream: ClientHttp2Stream, listener: DialListener, closed: () => void) {
    this.#stream = stream;
    this.#listener = listener;
    stream.on("response", (headers) => this.#answered(headers));
    stream.on("data", (bytes: Uint8Array) => {
      if (this.#over) return;
      if (this.#early) this.#early.push(bytes);
      else this.#listener?.chunk(bytes);
    });
    stream.on("end", () => this.#ended());
    stream.on("drain", () => this.#over || this.#listener?.drain());
    // Never removed: a stream may fail after the exchange, and an error without listener is thrown.
    stream.on("error", (error) => this.#error = error);
    stream.on("close", () => {
      this.#broke();
      this.#listener = undefined;
      closed();
    });
  }

  write(bytes: Uint8Array): boolean {
    if (this.#over || this.#stream.destroyed || this.#stream.writableEnded) return true;
    return this.#stream.write(bytes);
  }

  end(): void {
    if (!this.#stream.writableEnded && !this.#stream.destroyed) this.#stream.end();
  }

  abort(): void {
    this.#over = true;
    this.#stream.close(NGHTTP2_CANCEL);
    // A stream that is not read to its end never closes.
    this.#stream.resume();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  #answered(headers: Parameters<typeof headOf>[0]): void {
    const early = this.#early;
    this.#early = undefined;
    if (this.#over) return;
    this.#listener?.head(headOf(headers));
    if (early) { for (const bytes of early) if (!this.#over) this.#listener?.chunk(bytes); }
    if (this.#endedEarly) this.#ended();
  }

  #ended(): void {
    if (this.#early) {
      this.#endedEarly = true;
      return;
    }
    // Node ends the body of a stream that was reset, too.
    if (this.#over || this.#stream.rstCode) return;
    this.#over = true;
    this.#listener?.end();
  }

  #broke(): void {
    if (this.#over) return;
    this.#over = true;
    const { rstCode } = this.#stream;
    const message = this.#error
      ? describe(this.#error)
      : rstCode && rstCode !== NGHTTP2_NO_ERROR
      ? `stream reset with code ${rstCode}`
      : "connection closed";
    // Before a response, these codes mean that the endpoint is overloaded: it did not take the stream.
    const isBusy = this.#early !== undefined &&
      (rstCode === NGHTTP2_REFUSED_STREAM || rstCode === NGHTTP2_ENHANCE_YOUR_CALM);
    this.#listener?.failed({ kind: isBusy ? "busy" : "reset", message });
  }
}

function headOf(
  headers: IncomingHttpHeaders & { readonly ":status"?: number | undefined },
): DialHead {
  return {
    status: headers[":status"] ?? 0,
    httpVersion: "HTTP/2.0",
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}
