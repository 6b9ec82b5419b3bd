import type { DialFailure, DialListener, Exchange } from "../src/ports.ts";

/** What a body may hold before its connection exists, until `write` answers false. */
const ROOM_BYTES = 65_536;

/**
 * An exchange whose connection does not exist yet: keeps what is written until `settle`. Only the
 * first exchanges with an address pay for this; later ones are opened on a ready session.
 */
export class LateExchange implements Exchange {
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

  /** Whether nobody waits for it any more. */
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

  /** Goes on with a real exchange, to which `open` has given the same listener. */
  settle(open: (listener: DialListener) => Exchange): void {
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

  /** There will be no connection. */
  fail(failure: DialFailure): void {
    if (this.#over || this.#inner) return;
    this.#over = true;
    this.#writes = [];
    this.#listener.failed(failure);
  }
}

/** An exchange that could not even be begun, such as one with a header that HTTP does not allow. */
export function stillborn(listener: DialListener, cause: unknown): Exchange {
  const late = new LateExchange(listener);
  const message = cause instanceof Error ? cause.message : String(cause);
  // Not at once: nobody expects to be called before `open` has returned.
  queueMicrotask(() => late.fail({ kind: "unreachable", message }));
  return late;
}
