import type { DialFailure, DialListener, Exchange } from "./dial.ts";

/** Bytes buffered before the connection exists; beyond it `write` returns false. */
const ROOM_BYTES = 65_536;

/**
 * An exchange that waits for a connection or a signature: buffers what is written until `connect`.
 * Only the first exchanges with an address need it.
 */
export class PendingExchange implements Exchange {
  readonly #listener: DialListener;
  #inner: Exchange | undefined;
  #writes: Uint8Array[] = [];
  #bytes = 0;
  #full = false;
  #ended = false;
  #paused = false;
  #over = false;

  constructor(listener: DialListener) {
    this.#listener = listener;
  }

  /** Whether the exchange was aborted or has failed, so that it need not be opened. */
  get over(): boolean {
    return this.#over;
  }

  write(bytes: Uint8Array): boolean {
    if (this.#inner) return this.#inner.write(bytes);
    if (this.#over) return true;
    this.#writes.push(bytes);
    this.#bytes += bytes.byteLength;
    if (this.#bytes >= ROOM_BYTES) this.#full = true;
    return !this.#full;
  }

  end(): void {
    if (this.#inner) this.#inner.end();
    else this.#ended = true;
  }

  flush(): void {
    this.#inner?.flush?.();
  }

  abort(): void {
    if (this.#inner) this.#inner.abort();
    this.#over = true;
    this.#writes = [];
  }

  pause(): void {
    if (this.#inner) this.#inner.pause();
    else this.#paused = true;
  }

  resume(): void {
    if (this.#inner) this.#inner.resume();
    else this.#paused = false;
  }

  /** Continues with a real exchange, to which `open` has given the same listener. */
  connect(open: (listener: DialListener) => Exchange): void {
    if (this.#over) return;
    const inner = open(this.#listener);
    this.#inner = inner;
    let room = true;
    for (const bytes of this.#writes) room = inner.write(bytes);
    this.#writes = [];
    if (this.#paused) inner.pause();
    if (this.#ended) inner.end();
    else if (this.#full && room) this.#listener.drain();
  }

  /** The connection could not be opened. */
  fail(failure: DialFailure): void {
    if (this.#over || this.#inner) return;
    this.#over = true;
    this.#writes = [];
    this.#listener.failed(failure);
  }
}

/** An exchange that could not be started, such as one with a header that HTTP does not allow. */
export function failedExchange(listener: DialListener, failure: DialFailure): Exchange {
  const pending = new PendingExchange(listener);
  // Later, because a listener is never called before `open` has returned.
  queueMicrotask(() => pending.fail(failure));
  return pending;
}
