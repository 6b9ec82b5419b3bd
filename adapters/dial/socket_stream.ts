import net from "node:net";
import process from "node:process";
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";
import type {
  After,
  ByteListener,
  ByteStream,
  OpenByteStream,
} from "../../src/http2/byte_stream.ts";
import { ForbiddenAddress } from "../../src/dial.ts";
import type { OpenConnections } from "../platform/open_connections.ts";
import { destinationOf, type Guard } from "./guard.ts";
import { describe } from "./h1.ts";

/** Bytes that are read at once. */
const READ_BYTES = 64 * 1024;
/** How long a connection that was ended may take to send what was written. */
const END_MS = 1000;

/**
 * One buffer for all sockets: each read is handled before the next one begins. On Windows the system
 * is given the buffer before there is anything to read, and Deno reads several sockets at a time.
 */
const shared = "Deno" in globalThis || process.platform === "win32"
  ? undefined
  : new Uint8Array(READ_BYTES);

export interface SocketOptions {
  readonly connections: OpenConnections;
  readonly guard: Guard;
}

/** Connects to the host and port of a URL, without TLS. */
export function openSocket(url: URL, { connections, guard }: SocketOptions): OpenByteStream {
  const to = destinationOf(url);
  return (listener) => {
    const refusal = guard.refusal(to);
    if (refusal) return closedStream(listener, refusal);
    const buffer = shared ?? new Uint8Array(READ_BYTES);
    const socket = net.connect({
      ...to,
      lookup: guard.lookup(to),
      noDelay: true,
      // Bytes then go past the streams of Node, which cost more than reading them.
      onread: {
        buffer,
        callback: (size) => {
          listener.received(buffer.subarray(0, size));
          return true;
        },
      },
    });
    connections.add(socket, "http2");
    return new SocketStream(socket, listener);
  };
}

/** A stream that was never opened. */
function closedStream(listener: ByteListener, error: Error): ByteStream {
  const closing = setImmediate(() => listener.closed(error));
  const destroy = () => clearImmediate(closing);
  return { write: () => true, end: () => {}, destroy, hold: () => {} };
}

/** Calls back once, without keeping the process alive. */
export const after: After = (ms, call) => {
  const timer = setTimeout(call, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

class SocketStream implements ByteStream {
  readonly #socket: net.Socket;

  constructor(socket: net.Socket, listener: ByteListener) {
    this.#socket = socket;
    let error: Error | undefined;
    socket.once("connect", () => listener.opened());
    socket.on("drain", () => listener.drained());
    // Never removed: an error without listener is thrown.
    socket.on("error", (cause) => {
      error = cause instanceof ForbiddenAddress ? cause : new Error(describe(cause), { cause });
    });
    // The peer has ended its side, after which HTTP/2 has nothing to say.
    socket.once("end", () => socket.destroy());
    socket.once("close", () => listener.closed(error));
  }

  write(pieces: readonly Uint8Array[]): boolean {
    const socket = this.#socket;
    if (pieces.length === 1) return socket.write(pieces[0]!);
    socket.cork();
    let hasRoom = true;
    for (const piece of pieces) hasRoom = socket.write(piece);
    socket.uncork();
    return hasRoom;
  }

  end(): void {
    this.#socket.end();
    const cancel = after(END_MS, () => this.#socket.destroy());
    this.#socket.once("close", cancel);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  hold(isHeld: boolean): void {
    if (isHeld) this.#socket.ref();
    else this.#socket.unref();
  }
}
