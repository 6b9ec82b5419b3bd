import type { Command } from "../model/command.ts";
import type { Clock } from "../ports.ts";

/** How long an attempt may be silent, in milliseconds (service protocol §4.16). */
export interface Timeouts {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

/** When a stream last moved, and whether its handler may be waiting while it does not. */
export class Silence {
  /** In milliseconds since the epoch. */
  movedAt: number;
  /** When it was asked to suspend so that others get its slot. Undefined: it was not. */
  askedAt: number | undefined;
  readonly #clock: Clock;
  #isAnswered = false;
  /** Steps that began in this attempt and have no result yet. */
  #steps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.movedAt = clock.now();
  }

  /** Something moved, in either direction. */
  moved(): void {
    this.movedAt = this.#clock.now();
  }

  /** The endpoint has accepted the attempt. */
  answered(): void {
    this.#isAnswered = true;
    this.moved();
  }

  heard({ kind }: Command): void {
    if (kind === "run") this.#steps++;
    else if (kind === "ranTo") this.#steps = Math.max(0, this.#steps - 1);
  }

  /** Whether nothing is known to be going on that would explain the silence. */
  get isUnexplained(): boolean {
    return this.#isAnswered && this.#steps === 0;
  }

  /**
   * Until when silence is tolerated. `isOpen`: the request half is. One that was asked for the sake
   * of others loses no time by it: a step may be running after all.
   */
  dueOf({ inactivityTimeoutMs, abortTimeoutMs }: Timeouts, isOpen: boolean): number {
    if (isOpen) return this.movedAt + inactivityTimeoutMs;
    return this.movedAt + abortTimeoutMs + (this.askedAt === undefined ? 0 : inactivityTimeoutMs);
  }
}
