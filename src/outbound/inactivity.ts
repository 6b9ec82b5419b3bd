import type { Command } from "../model/command.ts";
import { type Entry, entryType } from "../model/journal.ts";
import type { Clock } from "../ports.ts";

/**
 * The inactivity timeouts of an attempt, in milliseconds
 * (docs/spec/service-protocol.md#timers-of-an-attempt).
 */
export interface Timeouts {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
}

/** When a stream last sent or received bytes, and whether its handler may be waiting since then. */
export class Inactivity {
  /** Of the last activity, in milliseconds since the epoch. */
  activeAt: number;
  /**
   * When the attempt was asked to suspend because others wait for its slot. Undefined: it was not.
   */
  askedAt: number | undefined;
  readonly #clock: Clock;
  #isAnswered = false;
  #hasReceived = false;
  /** How many steps this attempt is known to be executing. */
  #steps: number;

  /** `replay`: the journal that the attempt begins with. */
  constructor(clock: Clock, replay: readonly Entry[]) {
    this.#clock = clock;
    this.#steps = stepsWithoutResult(replay);
    this.activeAt = clock.now();
  }

  /** Records activity in either direction. */
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

  /** Whether the endpoint has sent anything after the head of its response. */
  get hasReceived(): boolean {
    return this.#hasReceived;
  }

  commandReceived({ kind }: Command): void {
    if (kind === "run") this.#steps++;
    else if (kind === "runCompletion") this.#steps = Math.max(0, this.#steps - 1);
  }

  /** Whether no running step explains the inactivity. */
  get isUnexplained(): boolean {
    return this.#isAnswered && this.#steps === 0;
  }

  /**
   * Until when inactivity is tolerated. `isOpen`: whether the request half is. Being asked to
   * suspend for other attempts does not shorten the timeouts: a step may be running after all.
   */
  dueOf({ inactivityTimeoutMs, abortTimeoutMs }: Timeouts, isOpen: boolean): number {
    if (isOpen) return this.activeAt + inactivityTimeoutMs;
    return this.activeAt + abortTimeoutMs + (this.askedAt === undefined ? 0 : inactivityTimeoutMs);
  }
}

/**
 * The SDK executes these steps again when it reaches them, and does not announce them a second
 * time.
 */
function stepsWithoutResult(replay: readonly Entry[]): number {
  let steps = 0;
  for (const entry of replay) {
    if (entry.kind === "command" && entry.type === entryType.run) steps++;
    else if (entry.kind === "notification" && entry.type === entryType.runCompletion) steps--;
  }
  return Math.max(0, steps);
}
