import { Failure } from "../errors.ts";
import { type InvocationRow, letterSinceOf } from "../model/invocation.ts";
import type { Clock } from "../ports.ts";

export interface LettersOptions {
  readonly clock: Pick<Clock, "now">;
  /**
   * A page of the invocations that owe a letter, after `after`, by rows that are as of now or later.
   * Rejects as the store does.
   */
  readonly load: (
    after: string | undefined,
    limit: number,
  ) => Promise<readonly Pick<InvocationRow, "id">[]>;
}

/** Invocations read at once. */
const PAGE = 1_000;
/** How long a sidecar has to write a letter, before another one gets it, in milliseconds. */
const CLAIM_MS = 30_000;
/** Letters that one request may claim. */
export const CLAIMED_MAX = 32;

/**
 * The invocations of a partition that owe a dead letter (decision 053), and which of them a sidecar is
 * writing. Nothing here is stored: a new life reads them from the rows when it is first asked.
 */
export class Letters {
  readonly #options: LettersOptions;
  /** Until when they are claimed, by id. The one that has waited longest is the first. */
  readonly #owing = new Map<string, number>();
  /** While rows are read: those that turns have written meanwhile, and that owe none. */
  #over: Set<string> | undefined;
  #recovery: Promise<void> | undefined;
  #stop!: (cause: Failure) => void;
  readonly #stopped = new Promise<never>((_, reject) => this.#stop = reject);

  constructor(options: LettersOptions) {
    this.#options = options;
    this.#stopped.catch(() => {});
  }

  /** A turn has written an invocation, or dropped it. */
  invocationChanged(row: InvocationRow, isGone: boolean): void {
    if (!isGone && letterSinceOf(row) !== undefined) {
      this.#over?.delete(row.id);
      if (!this.#owing.has(row.id)) this.#owing.set(row.id, 0);
    } else {
      this.#over?.add(row.id);
      this.#owing.delete(row.id);
    }
  }

  /**
   * Ids of invocations whose letters no sidecar is writing. They are claimed for `CLAIM_MS`. Rejects as
   * the store does, and with `Failure` 503 when the partition stops.
   */
  async claim(): Promise<string[]> {
    await Promise.race([this.#recovery ??= this.#recover(), this.#stopped]);
    const now = this.#options.clock.now();
    const ids: string[] = [];
    for (const [id, claimedUntil] of this.#owing) {
      if (ids.length === CLAIMED_MAX) break;
      if (claimedUntil <= now) ids.push(id);
    }
    for (const id of ids) {
      this.#owing.delete(id);
      this.#owing.set(id, now + CLAIM_MS);
    }
    return ids;
  }

  /** Gives claims back: these letters were not handed out, or cannot be written now. */
  release(ids: readonly string[]): void {
    for (const id of ids) if (this.#owing.has(id)) this.#owing.set(id, 0);
  }

  /** The partition has stopped: who waits for rows waits no longer. */
  stop(): void {
    this.#stop(Failure.plain(503, "the partition has stopped"));
  }

  async #recover(): Promise<void> {
    const over = this.#over = new Set<string>();
    try {
      let after: string | undefined;
      for (;;) {
        const page = await this.#options.load(after, PAGE);
        for (const { id } of page) {
          if (!over.has(id) && !this.#owing.has(id)) this.#owing.set(id, 0);
        }
        after = page.at(-1)?.id;
        if (page.length < PAGE) break;
      }
    } catch (cause) {
      this.#recovery = undefined;
      throw cause;
    } finally {
      this.#over = undefined;
    }
  }
}
