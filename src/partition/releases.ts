import type { Effect } from "../engine/effect.ts";

export interface ReleasesOptions {
  /** Runs effects. */
  readonly release: (effects: readonly Effect[]) => void;
  /** Calls back after input that has already arrived is read. */
  readonly soon: (call: () => void) => void;
  /** Most effects in a batch, unless very many wait. A reply before its attempt does not count. */
  readonly effectsMax: number;
  /** As in `CommitsOptions`. Absent: always. */
  readonly isHeld?: (() => boolean) | undefined;
  /** Resolves once the store has confirmed the lease. */
  readonly confirm: () => Promise<void>;
  readonly onFailure: (cause: unknown) => void;
}

interface DurableEffects {
  readonly effects: readonly Effect[];
  readonly durable: readonly (() => void)[];
  released: number;
}

/** The part of a large backlog that makes a batch, so that a few batches release all of it. */
const BACKLOG_PARTS = 4;

/**
 * Releases the effects of durable turns in order, in batches. Callers that get their answers together
 * would otherwise call again together, so that endpoints and this process are idle in turns
 * (decision 036).
 */
export class Releases {
  readonly #options: ReleasesOptions;
  #groups: DurableEffects[] = [];
  /** Effects in all groups that are not released. */
  #waiting = 0;
  #isDue = false;

  constructor(options: ReleasesOptions) {
    this.#options = options;
  }

  /** Takes the effects of turns that just became durable, and what to call when they are released. */
  add(effects: readonly Effect[], durable: readonly (() => void)[]): void {
    this.#groups.push({ effects, durable, released: 0 });
    this.#waiting += effects.length;
    if (!this.#isDue) this.#next();
  }

  /** Nothing is released after this. */
  stop(): void {
    this.#groups = [];
  }

  /** Throws what `release` throws. */
  #next(): void {
    const { release, soon, effectsMax } = this.#options;
    let room = Math.max(effectsMax, Math.ceil(this.#waiting / BACKLOG_PARTS));
    for (let group = this.#groups[0]; group && room > 0; group = this.#groups[0]) {
      const { effects, released } = group;
      let end = released;
      for (; end < effects.length && room > 0; end++) {
        if (!precedesItsAttempt(effects, end)) room--;
      }
      const batch = released === 0 && end === effects.length
        ? effects
        : effects.slice(released, end);
      this.#waiting -= batch.length;
      group.released += batch.length;
      if (group.released === effects.length) this.#groups.shift();
      release(batch);
      if (group.released === effects.length) { for (const call of group.durable) call(); }
    }
    this.#isDue = this.#groups.length > 0;
    if (this.#isDue) soon(() => void this.#continue());
  }

  /** Releases the next batch, if the lease still holds. Has no caller that could catch an error. */
  async #continue(): Promise<void> {
    const { isHeld, confirm, onFailure } = this.#options;
    try {
      if (isHeld?.() === false) await confirm();
      this.#next();
    } catch (cause) {
      onFailure(cause);
    }
  }
}

/**
 * Whether an effect is a reply and the next one the attempt of the same request. A reply and its
 * attempt count as one, so that batch size does not depend on replies.
 */
function precedesItsAttempt(effects: readonly Effect[], at: number): boolean {
  const [effect, next] = [effects[at], effects[at + 1]];
  return effect?.type === "reply" && next?.type === "attempt" && next.invocation.id === effect.id;
}
