import type { Log } from "../../src/ports.ts";
import type { PortLimits } from "../platform/listener.ts";

/** An answer of either version of HTTP, as far as its memory matters. */
export interface Answer {
  /** Bytes that were written to it and that the system has not taken yet. */
  readonly writableLength: number;
  /** The socket or session that it goes over, while that is open. */
  readonly transport: Transport | null | undefined;
  /** Ends the answer when its client reads none of it for so long. 0: waits without a limit. */
  setReadTimeout(timeoutMs: number): void;
  on(event: "close", listener: (this: Answer) => void): unknown;
}

interface Transport {
  destroy(): unknown;
}

/**
 * What an answer takes beside its bytes, with its request and its stream: 190 unread answers of 40
 * bytes on each of 60 connections took 9.6 KiB each (Node 20).
 */
const ANSWER_BYTES = 8 * 1024;
const SWEEP_MS = 1_000;
/** Answers, and bytes of them, that may wait to be counted. */
const FRESH_MAX = 256;
const FRESH_BYTES_MAX = 1024 * 1024;
/** How far connections are closed, as a part of the limit, so that one sweep is enough for a while. */
const ENOUGH = 0.75;
/** At this multiple of the limit, connections are closed that were not given the time to read. */
const HARD_FACTOR = 2;

/** All that one connection holds. */
interface Holder {
  readonly transport: Transport;
  /** Whether an answer of it was there at the last two sweeps. */
  isOld: boolean;
  bytes: number;
  /** How many are held. */
  answers: number;
  isClosed: boolean;
}

interface Held {
  readonly holder: Holder;
  bytes: number;
  /** Whether it was there at the last sweep. */
  isOld: boolean;
  isTimed: boolean;
}

/**
 * The answers of one port that are written and not sent, because their clients do not read them
 * (decision 067). Beyond `unreadBytesMax` in all, connections with answers that are older than a second
 * are closed, those that hold most first; at twice as much, any. An answer of which nothing is read for
 * `unreadTimeoutMs` is ended.
 */
export class UnreadAnswers {
  readonly #limits: PortLimits;
  readonly #log: Log;
  readonly #holders = new Map<Transport, Holder>();
  readonly #held = new Map<Answer, Held>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #forget: (this: Answer) => void;
  readonly #fresh: Answer[] = [];
  #freshBytes = 0;
  #bytes = 0;

  constructor(limits: PortLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
    const drop = (answer: Answer) => this.#drop(answer);
    // One function for all answers: nearly every one of HTTP/2 gets it.
    this.#forget = function () {
      drop(this);
    };
    const sweepMs = Math.min(SWEEP_MS, limits.unreadTimeoutMs || SWEEP_MS);
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }

  /** Bytes that are held in all. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts an answer that was just written to, until it is sent or closed. Most are sent a moment later,
   * so a few wait until that is known, and cost nothing more.
   */
  add(answer: Answer): void {
    const length = answer.writableLength;
    if (length === 0) return;
    this.#fresh.push(answer);
    this.#freshBytes += length;
    if (this.#fresh.length >= FRESH_MAX || this.#freshBytes >= FRESH_BYTES_MAX) this.#takeFresh();
  }

  /** Whether a connection holds as much as one may. */
  isFull(transport: Transport): boolean {
    const bytes = this.#holders.get(transport)?.bytes ?? 0;
    return bytes >= this.#limits.unreadConnectionBytesMax;
  }

  /** Ends the sweeps. */
  close(): void {
    clearInterval(this.#timer);
  }

  #takeFresh(): void {
    for (const answer of this.#fresh.splice(0)) this.#take(answer);
    this.#freshBytes = 0;
    const { unreadBytesMax } = this.#limits;
    if (this.#bytes > HARD_FACTOR * unreadBytesMax) {
      this.#closeLargest([...this.#holders.values()], unreadBytesMax);
    }
  }

  #take(answer: Answer): void {
    const { writableLength, transport } = answer;
    if (writableLength === 0 || !transport) return;
    let held = this.#held.get(answer);
    if (!held) {
      held = { holder: this.#holder(transport), bytes: 0, isOld: false, isTimed: false };
      held.holder.answers++;
      this.#held.set(answer, held);
      answer.on("close", this.#forget);
    }
    this.#count(held, ANSWER_BYTES + writableLength);
  }

  #holder(transport: Transport): Holder {
    let holder = this.#holders.get(transport);
    if (!holder) {
      holder = { transport, bytes: 0, answers: 0, isOld: false, isClosed: false };
      this.#holders.set(transport, holder);
    }
    return holder;
  }

  #count(held: Held, bytes: number): void {
    const more = bytes - held.bytes;
    held.bytes = bytes;
    // What a closed connection holds is no longer counted, though its answers close a bit later.
    if (held.holder.isClosed) return;
    held.holder.bytes += more;
    this.#bytes += more;
  }

  #drop(answer: Answer): void {
    const held = this.#held.get(answer);
    if (!held) return;
    const { holder } = held;
    this.#held.delete(answer);
    this.#count(held, 0);
    if (--holder.answers === 0 && !holder.isClosed) this.#holders.delete(holder.transport);
  }

  #closeLargest(holders: Holder[], enough: number): void {
    const [before, count] = [this.#bytes, this.#holders.size];
    for (const holder of holders.sort((a, b) => b.bytes - a.bytes)) {
      if (this.#bytes <= enough) break;
      this.#bytes -= holder.bytes;
      holder.isClosed = true;
      this.#holders.delete(holder.transport);
      holder.transport.destroy();
    }
    const closed = count - this.#holders.size;
    if (closed === 0) return;
    this.#log("warn", "Connections whose clients do not read their answers are closed", {
      bytes: before,
      limit: this.#limits.unreadBytesMax,
      closed,
      left: this.#holders.size,
    });
  }

  /** Times what was there at the sweep before, and forgets what was read meanwhile. */
  #sweep(): void {
    this.#takeFresh();
    for (const holder of this.#holders.values()) holder.isOld = false;
    for (const [answer, held] of this.#held) {
      const { writableLength } = answer;
      if (writableLength === 0) this.#goesOn(answer, held);
      else this.#waits(answer, held, writableLength);
    }
    const { unreadBytesMax } = this.#limits;
    if (this.#bytes <= unreadBytesMax) return;
    const old = [...this.#holders.values()].filter(({ isOld }) => isOld);
    this.#closeLargest(old, ENOUGH * unreadBytesMax);
  }

  /** Its client reads it, and more of it is to come: events, or rows of a query. */
  #goesOn(answer: Answer, held: Held): void {
    if (held.isTimed) answer.setReadTimeout(0);
    held.isTimed = held.isOld = false;
    this.#count(held, 0);
  }

  #waits(answer: Answer, held: Held, bytes: number): void {
    this.#count(held, ANSWER_BYTES + bytes);
    if (held.isOld) {
      held.holder.isOld = true;
      if (!held.isTimed) answer.setReadTimeout(this.#limits.unreadTimeoutMs);
      held.isTimed = true;
    }
    held.isOld = true;
  }
}
