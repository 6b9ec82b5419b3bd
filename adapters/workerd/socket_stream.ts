import { concatBytes } from "../../src/bytes.ts";
import type { ByteListener, ByteStream, OpenByteStream } from "../../src/http2/byte_stream.ts";

/** Bytes that were written and that the runtime has not taken: beyond it, writers wait. */
const UNSENT_BYTES_MAX = 256 * 1024;

/** A TCP connection of the runtime, as far as it is used. */
export interface Socket {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  /** Rejects when there is no connection. */
  readonly opened: Promise<unknown>;
  close(): Promise<void>;
}

/** `connect` of `cloudflare:sockets`. */
export type Connect = (
  address: { readonly hostname: string; readonly port: number },
  options: { readonly secureTransport: "off" },
) => Socket;

export interface SocketOptions {
  readonly connect: Connect;
  /** Throws when there may be no connection to a URL. */
  readonly check: (url: URL) => void;
  /** Handles an error that a listener throws: a bug. */
  readonly onBug: (cause: unknown) => void;
}

/** Connects to the host and port of a URL, without TLS. */
export function openSocket(url: URL, options: SocketOptions): OpenByteStream {
  return (listener) => new SocketStream(url, options, listener);
}

class SocketStream implements ByteStream {
  readonly #listener: ByteListener;
  #socket: Socket | undefined;
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #unsentBytes = 0;
  #isFull = false;
  #isClosed = false;

  constructor(url: URL, { connect, check, onBug }: SocketOptions, listener: ByteListener) {
    this.#listener = listener;
    this.#run(url, { connect, check }).catch(onBug);
  }

  write(pieces: readonly Uint8Array[]): boolean {
    const bytes = pieces.length === 1 ? pieces[0]! : concatBytes(pieces);
    this.#unsentBytes += bytes.length;
    this.#writer?.write(bytes).then(() => this.#sent(bytes.length), (cause) => this.#close(cause));
    this.#isFull = this.#unsentBytes > UNSENT_BYTES_MAX;
    return !this.#isFull;
  }

  end(): void {
    const close = () => this.destroy();
    this.#writer?.close().then(close, close);
  }

  destroy(): void {
    this.#close();
  }

  /** There is no process to keep alive. */
  hold(): void {}

  async #run(
    url: URL,
    { connect, check }: Pick<SocketOptions, "connect" | "check">,
  ): Promise<void> {
    const hostname = url.hostname.replace(/^\[|\]$/g, "");
    const port = Number(url.port || 80);
    let cause: unknown;
    // Later, because a listener is not called before its connection was made.
    const socket = await Promise.resolve()
      .then(() => {
        check(url);
        return connect({ hostname, port }, PLAIN);
      })
      .catch((reason) => void (cause = reason));
    if (!socket) return this.#close(cause);
    this.#socket = socket;
    if (this.#isClosed) return void socket.close().catch(() => {});
    const isOpen = await socket.opened.then(() => true, (reason) => void (cause = reason));
    if (!isOpen || this.#isClosed) return this.#close(cause);
    this.#writer = socket.writable.getWriter();
    // A broken connection is noticed by reading and by writing.
    this.#writer.closed.catch(() => {});
    this.#listener.opened();
    await this.#read(socket.readable.getReader());
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    for (;;) {
      let cause: unknown;
      const next = await reader.read().catch((reason) => void (cause = reason));
      if (this.#isClosed) return;
      if (!next?.value) return this.#close(cause);
      this.#listener.received(next.value);
    }
  }

  #sent(bytes: number): void {
    this.#unsentBytes -= bytes;
    if (!this.#isFull || this.#isClosed || this.#unsentBytes > UNSENT_BYTES_MAX / 2) return;
    this.#isFull = false;
    this.#listener.drained();
  }

  /** Once. `cause`: why it broke. Absent: either side has closed it. */
  #close(cause?: unknown): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket?.close().catch(() => {});
    const error = cause === undefined || cause instanceof Error ? cause : new Error(String(cause));
    this.#listener.closed(error);
  }
}

const PLAIN = { secureTransport: "off" } as const;
