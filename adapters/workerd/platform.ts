import { type Clock, CLOCK_LOOK_MS, type Log, type LogLevel } from "../../src/ports.ts";

/**
 * What is due so soon is waited for even at rest. Less than `CLOCK_LOOK_MS`, so that looking at the
 * clock does not keep an object in memory; at rest, a clock that jumps is noticed by the alarm.
 */
const NEAR_MS = 2_000;

interface Wait {
  readonly due: number;
  readonly call: () => void;
  timer?: ReturnType<typeof setTimeout> | undefined;
}

/**
 * Time as an isolate has it. A timer that is set keeps its object in memory, which costs; so at rest
 * only those are set that are due soon, and the others wait for `wake`, for which there are alarms.
 * What a callback throws is a bug nobody above can catch, and goes to `onBug`.
 */
export class IsolateClock implements Clock {
  readonly #onBug: (cause: unknown) => void;
  readonly #waits = new Set<Wait>();
  #isResting = false;

  constructor(onBug: (cause: unknown) => void) {
    this.#onBug = onBug;
  }

  get isResting(): boolean {
    return this.#isResting;
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

  /** Nothing goes on: the object may be evicted. */
  rest(): void {
    this.#isResting = true;
    for (const wait of this.#waits) {
      if (wait.due - Date.now() <= NEAR_MS) continue;
      clearTimeout(wait.timer);
      wait.timer = undefined;
    }
  }

  /** Something came in: whatever became due at rest is called soon. */
  wake(): void {
    this.#isResting = false;
    for (const wait of this.#waits) if (wait.timer === undefined) this.#arm(wait);
  }

  #arm(wait: Wait): void {
    const waitMs = Math.max(wait.due - Date.now(), 0);
    if (this.#isResting && waitMs > NEAR_MS) return void (wait.timer = undefined);
    wait.timer = setTimeout(() => this.#look(wait), Math.min(waitMs, CLOCK_LOOK_MS));
  }

  #look(wait: Wait): void {
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

/** For a log record: where something happened, if it says so. */
export function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
