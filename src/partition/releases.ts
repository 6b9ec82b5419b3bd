import type { Effect } from "../engine/effect.ts";

export interface ReleasesOptions {
  /** Runs effects. */
  readonly release: (effects: readonly Effect[]) => void;
  /** Calls once the input that is there has been read. */
  readonly soon: (call: () => void) => void;
  /** Most effects released at once, unless very many wait. A reply before its attempt is none. */
  readonly effectsMax: number;
  /** As in `CommitsOptions`. Absent: always. */
  readonly isHeld?: (() => boolean) | undefined;
  /** Resolves once the store has said that the partition is still ours. */
  readonly confirm: () => Promise<void>;
  readonly onFailure: (cause: unknown) => void;
}

interface DurableEffects {
  readonly effects: readonly Effect[];
  readonly durable: readonly (() => void)[];
  released: number;
}

/** However many wait, they are gone after a few batches: this part of them goes at once. */
const BACKLOG_PARTS = 4;

/**
 * Effects whose turns are durable, on their way out: in their order, and a batch at a time. Callers that
 * are answered together would otherwise stay together, so that the endpoints stand idle while this
 * works for all of them, and this while they do (decision 036).
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

  /** Takes the effects of turns that just became durable, and who is told when they are out. */
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

  /** Nobody above can catch what is thrown here, and much may have happened in between. */
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
 * Whether an effect only says how the request was taken whose attempt is the next one. Both leave
 * together, as one: so there are as many callers in a batch whether they are told or not.
 */
function precedesItsAttempt(effects: readonly Effect[], at: number): boolean {
  const [effect, next] = [effects[at], effects[at + 1]];
  return effect?.type === "reply" && next?.type === "attempt" && next.invocation.id === effect.id;
}
