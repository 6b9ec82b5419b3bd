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

interface Group {
  readonly effects: readonly Effect[];
  readonly durable: readonly (() => void)[];
  released: number;
}

/** However many wait, they are gone after a few lots: this part of them goes at once. */
const LOTS = 4;

/**
 * Effects whose turns are durable, on their way out: in their order, and a lot at a time. Callers that
 * are answered together would otherwise stay together, so that the endpoints stand idle while this
 * works for all of them, and this while they do (decision 036).
 */
export class Releases {
  readonly #options: ReleasesOptions;
  #groups: Group[] = [];
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
    let room = Math.max(effectsMax, Math.ceil(this.#waiting / LOTS));
    for (let group = this.#groups[0]; group && room > 0; group = this.#groups[0]) {
      const { effects, released } = group;
      let end = released;
      for (; end < effects.length && room > 0; end++) {
        if (!isPrelude(effects, end)) room--;
      }
      const lot = released === 0 && end === effects.length ? effects : effects.slice(released, end);
      this.#waiting -= lot.length;
      group.released += lot.length;
      if (group.released === effects.length) this.#groups.shift();
      release(lot);
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
 * together, as one: so there are as many callers in a lot whether they are told or not.
 */
function isPrelude(effects: readonly Effect[], at: number): boolean {
  const [effect, next] = [effects[at], effects[at + 1]];
  return effect?.type === "reply" && next?.type === "attempt" && next.invocation.id === effect.id;
}
