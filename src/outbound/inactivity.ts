import type { Command } from "../model/command.ts";
import { type Entry, entryType } from "../model/journal.ts";
import type { Clock } from "../ports.ts";

/**
 * How long an attempt may be silent, in milliseconds
 * (docs/spec/service-protocol.md#timers-of-an-attempt).
 */
export interface Timeouts {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

/** When a stream last moved, and whether its handler may be waiting while it does not. */
export class Inactivity {
  /** In milliseconds since the epoch. */
  activeAt: number;
  /** When it was asked to suspend so that others get its slot. Undefined: it was not. */
  askedAt: number | undefined;
  readonly #clock: Clock;
  #isAnswered = false;
  #hasReceived = false;
  /** Steps that this attempt executes, as far as it is known. */
  #steps: number;

  /** `replay`: the journal that the attempt begins with. */
  constructor(clock: Clock, replay: readonly Entry[]) {
    this.#clock = clock;
    this.#steps = stepsWithoutResult(replay);
    this.activeAt = clock.now();
  }

  /** Something moved, in either direction. */
  touch(): void {
    this.activeAt = this.#clock.now();
  }

  /** The endpoint has accepted the attempt. */
  answered(): void {
    this.#isAnswered = true;
    this.touch();
  }

  /** The endpoint has sent bytes of a message. */
  received(): void {
    this.#hasReceived = true;
    this.touch();
  }

  /** Whether the endpoint has sent anything behind the head of its response. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  commandReceived({ kind }: Command): void {
    if (kind === "run") this.#steps++;
    else if (kind === "runCompletion") this.#steps = Math.max(0, this.#steps - 1);
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
    if (isOpen) return this.activeAt + inactivityTimeoutMs;
    return this.activeAt + abortTimeoutMs + (this.askedAt === undefined ? 0 : inactivityTimeoutMs);
  }
}

/** The SDK executes these again when it comes to them, and does not announce them a second time. */
function stepsWithoutResult(replay: readonly Entry[]): number {
  let steps = 0;
  for (const entry of replay) {
    if (entry.kind === "command" && entry.type === entryType.run) steps++;
    else if (entry.kind === "notification" && entry.type === entryType.runCompletion) steps--;
  }
  return Math.max(0, steps);
}
