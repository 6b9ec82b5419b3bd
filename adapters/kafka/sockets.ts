import { Buffer } from "node:buffer";
import net from "node:net";
import { setImmediate } from "node:timers";
import tls from "node:tls";
import type { ISocketFactory } from "kafkajs";
import type { Guard } from "../dial/guard.ts";
import { INTERRUPTED } from "./kafkajs_patches.ts";

const KEEP_ALIVE_MS = 60_000;
/** The largest answer of a broker: librdkafka's default of `receive.message.max.bytes`. */
const ANSWER_BYTES_MAX = 100_000_000;
const SIZE_BYTES = 4;
const API_KEY_FETCH = 1;

/** The sockets of one client: they give up in time, and a fetch that waits can be ended. */
export class Sockets {
  /** Sockets on which records were asked for. kafkajs asks for nothing else on them. */
  readonly #fetching = new Set<net.Socket>();
  readonly #open = new Set<net.Socket>();
  #isClosed = false;
  readonly #idleMs: number;
  readonly #guard: Guard;

  /**
   * `idleMs`: how long a socket may be silent before what waits on it fails. `guard` checks where each
   * one leads.
   */
  constructor(idleMs: number, guard: Guard) {
    this.#idleMs = idleMs;
    this.#guard = guard;
  }

  /** For kafkajs. */
  readonly factory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
    const refusal = this.#isClosed
      ? new Error("The client is closed")
      : this.#guard.refusal({ host, port });
    if (refusal) return failedSocket(refusal);
    const lookup = this.#guard.lookup({ host, port });
    const name = net.isIP(host) ? {} : { servername: host };
    const socket = ssl
      ? tls.connect({ host, port, lookup, ...name, ...ssl }, onConnect)
      : net.connect({ host, port, lookup }, onConnect);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.setNoDelay(true);
    socket.setTimeout(this.#idleMs);
    this.#open.add(socket);
    this.#notice(socket);
    checkFrames(socket);
    return socket;
  };

  /** Ends fetches that wait for records: the consumer looks around and fetches again. */
  interrupt(): void {
    const error = Object.assign(new Error("The fetch was interrupted"), { code: INTERRUPTED });
    for (const socket of this.#fetching) socket.destroy(error);
    this.#fetching.clear();
  }

  /** Ends what a client still waits for, whose brokers may never answer. It connects no more. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open) socket.destroy(new Error("The client is closed"));
  }

  #notice(socket: net.Socket): void {
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = ((...args: unknown[]) => {
      const [packed] = args;
      if (Buffer.isBuffer(packed) && packed.length > SIZE_BYTES + 2) {
        if (packed.readInt16BE(SIZE_BYTES) === API_KEY_FETCH) this.#fetching.add(socket);
      }
      return write(...args);
    }) as typeof socket.write;
    socket.once("close", () => {
      this.#fetching.delete(socket);
      this.#open.delete(socket);
    });
  }
}

/** A socket that was never connected, and says why. */
function failedSocket(error: Error): net.Socket {
  const socket = new net.Socket();
  setImmediate(() => socket.destroy(error));
  return socket;
}

/**
 * Ends a socket whose peer sends sizes that no answer has: kafkajs would wait for 2 GB, or spin.
 * Something else than a broker listens there, or it is broken.
 */
function checkFrames(socket: net.Socket): void {
  const check = frameChecker();
  const on = socket.on.bind(socket) as (event: string, listener: Listener) => net.Socket;
  socket.on = ((event: string, listener: Listener) => {
    if (event !== "data") return on(event, listener);
    return on(event, (chunk: Buffer) => {
      const size = check(chunk);
      if (size === undefined) return listener(chunk);
      socket.destroy(
        new Error(`The peer speaks no Kafka: it announces an answer of ${size} bytes`),
      );
    });
  }) as typeof socket.on;
}

// deno-lint-ignore no-explicit-any
type Listener = (...args: any[]) => void;

/** Follows the sizes in front of answers. Answers an impossible one, else undefined. */
export function frameChecker(): (chunk: Buffer) => number | undefined {
  let head = Buffer.alloc(0);
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      const skipped = Math.min(left, chunk.length - at);
      left -= skipped;
      at += skipped;
      if (left > 0 || at === chunk.length) return undefined;
      const taken = Math.min(SIZE_BYTES - head.length, chunk.length - at);
      head = Buffer.concat([head, chunk.subarray(at, at + taken)]);
      at += taken;
      if (head.length < SIZE_BYTES) return undefined;
      const size = head.readInt32BE();
      if (size < 0 || size > ANSWER_BYTES_MAX) return size;
      [left, head] = [size, Buffer.alloc(0)];
    }
    return undefined;
  };
}
