import { Failure } from "../errors.ts";
import type { Log, OnLeave } from "../ports.ts";
import { ambiguous } from "./partition_client.ts";
import { decodeFailure, type EncodedFailure, encodeFailure } from "./peer_response.ts";
import { ThreadDecoder } from "./thread_decoder.ts";
import { ThreadEncoder } from "./thread_encoder.ts";

/** One end of a channel between two threads, which keeps messages in order and loses none. */
export interface RpcPort {
  postMessage(message: Uint8Array<ArrayBuffer>, transfer: readonly ArrayBuffer[]): void;
}

/** Carries out what the other thread asks for. */
export type Serve = (
  method: string,
  args: readonly unknown[],
  onLeave: OnLeave,
) => Promise<unknown>;

export interface PortRpcOptions {
  readonly port: RpcPort;
  readonly serve: Serve;
  /** Calls back once this burst of input has been handled. */
  readonly soon: (call: () => void) => void;
  readonly log: Log;
}

/** What goes over the port, many at a time. */
type Packet =
  | { readonly ask: number; readonly method: string; readonly args: readonly unknown[] }
  | { readonly answer: number; readonly value?: unknown; readonly failure?: EncodedFailure }
  | { readonly leave: number };

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: Failure) => void;
}

/**
 * Requests between two threads, both ways. What is said within one burst of input is one message, whose
 * bytes are handed over and not copied: a message costs as much as some ten requests in it.
 */
export class PortRpc {
  readonly #options: PortRpcOptions;
  readonly #waiting = new Map<number, Waiter>();
  /** What ends a request of the other side that waits, by its number. */
  readonly #leaves = new Map<number, () => void>();
  readonly #encoder = new ThreadEncoder();
  readonly #decoder = new ThreadDecoder();
  #packets: Packet[] = [];
  #last = 0;
  #isClosed = false;

  constructor(options: PortRpcOptions) {
    this.#options = options;
  }

  /**
   * Asks the other thread. Rejects with its `Failure`, with 499 when the caller leaves, and with 503 when
   * the port is closed.
   */
  async ask<T>(method: string, args: readonly unknown[] = [], onLeave?: OnLeave): Promise<T> {
    if (this.#isClosed) throw ambiguous();
    const id = ++this.#last;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    onLeave?.(() => this.#leave(id));
    this.#say({ ask: id, method, args });
    return await answer as T;
  }

  /** A message has come. Throws `Failure` 500 when it is damaged, or not the next one. */
  receive(message: Uint8Array): void {
    for (const packet of this.#decoder.decode(message) as readonly Packet[]) {
      if ("ask" in packet) void this.#serve(packet.ask, packet.method, packet.args);
      else if ("leave" in packet) this.#leaves.get(packet.leave)?.();
      else this.#answered(packet.answer, packet);
    }
  }

  /** Ends all requests: those of this side are rejected with 503, those that it serves are canceled. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(ambiguous());
    this.#waiting.clear();
    for (const leave of [...this.#leaves.values()]) leave();
  }

  #leave(id: number): void {
    const waiter = this.#waiting.get(id);
    if (!waiter) return;
    this.#waiting.delete(id);
    this.#say({ leave: id });
    waiter.reject(Failure.plain(499, "the caller went away"));
  }

  #answered(id: number, { value, failure }: { value?: unknown; failure?: EncodedFailure }): void {
    const waiter = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failure) waiter?.reject(decodeFailure(failure));
    else waiter?.resolve(value);
  }

  async #serve(id: number, method: string, args: readonly unknown[]): Promise<void> {
    const { serve, log } = this.#options;
    try {
      const value = await serve(method, args, (leave) => this.#leaves.set(id, leave));
      this.#say({ answer: id, value });
    } catch (cause) {
      if (!(cause instanceof Failure)) {
        log("error", "A request of another thread failed", { method, cause: String(cause) });
      }
      const failure = cause instanceof Failure
        ? cause
        : Failure.plain(500, "internal server error");
      this.#say({ answer: id, failure: encodeFailure(failure) });
    } finally {
      this.#leaves.delete(id);
    }
  }

  #say(packet: Packet): void {
    if (this.#isClosed) return;
    this.#packets.push(packet);
    if (this.#packets.length === 1) this.#options.soon(() => this.#flush());
  }

  #flush(): void {
    if (this.#isClosed) return;
    const message = this.#encoder.encode(this.#packets);
    this.#packets = [];
    this.#options.port.postMessage(message, [message.buffer]);
  }
}
