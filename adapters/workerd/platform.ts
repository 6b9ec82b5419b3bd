import { type Clock, CLOCK_LOOK_MS, type Log, type LogLevel } from "../../src/ports.ts";

/**
 * A call that is due so soon keeps its timer when the object is idle. Less than `CLOCK_LOOK_MS`, so that
 * checking the clock does not keep an object in memory; while idle, the alarm notices a clock that jumps.
 */
const SOON_MS = 2_000;

interface Wait {
  readonly due: number;
  readonly call: () => void;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

/**
 * The clock of an isolate. A timer keeps its object in memory, which costs; so while the object is idle
 * only timers that are due soon are set, and the others wait for `wake`, which an alarm calls. An error
 * that a callback throws is a bug, and is passed to `onBug`.
 */
export class IsolateClock implements Clock {
  readonly #onBug: (cause: unknown) => void;
  readonly #waits = new Set<Wait>();
  #isIdle = false;

  constructor(onBug: (cause: unknown) => void) {
    this.#onBug = onBug;
  }

  get isIdle(): boolean {
    return this.#isIdle;
  }

  now(): number {
    return Date.now();
  }

  at(due: number, call: () => void): () => void {
    const wait: Wait = { due, call };
    this.#waits.add(wait);
    this.#arm(wait);
    return () => {
      clearTimeout(wait.timer);
      this.#waits.delete(wait);
    };
  }

  soon(call: () => void): void {
    setTimeout(() => this.#guarded(call), 0);
  }

  /** The object is idle, and may be evicted. */
  idle(): void {
    this.#isIdle = true;
    for (const wait of this.#waits) {
      if (wait.due - Date.now() <= SOON_MS) continue;
      clearTimeout(wait.timer);
      wait.timer = undefined;
    }
  }

  /** A request or an alarm arrived: sets all timers again. Calls that became due fire soon. */
  wake(): void {
    this.#isIdle = false;
    for (const wait of this.#waits) if (wait.timer === undefined) this.#arm(wait);
  }

  #arm(wait: Wait): void {
    const waitMs = Math.max(wait.due - Date.now(), 0);
    if (this.#isIdle && waitMs > SOON_MS) return void (wait.timer = undefined);
    wait.timer = setTimeout(() => this.#fire(wait), Math.min(waitMs, CLOCK_LOOK_MS));
  }

  #fire(wait: Wait): void {
    // The clock of an isolate stands still between one input and the next.
    if (Date.now() < wait.due) return this.#arm(wait);
    this.#waits.delete(wait);
    this.#guarded(wait.call);
  }

  #guarded(call: () => void): void {
    try {
      call();
    } catch (cause) {
      this.#onBug(cause);
    }
  }
}

const LEVELS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** One JSON object a line on the isolate's console; records below `least` are dropped. */
export function consoleLog(least: LogLevel): Log {
  return (level, message, fields) => {
    if (LEVELS[level] < LEVELS[least]) return;
    const record = { time: new Date().toISOString(), level, message, ...fields };
    console[level](JSON.stringify(record));
  };
}

/** The stack of an error, for a log record. */
export function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
