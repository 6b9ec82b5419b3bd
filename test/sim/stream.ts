import type { Attempt } from "../../src/engine/effect.ts";
import type { Event, Heard, Outcome } from "../../src/engine/event.ts";
import type { Entry } from "../../src/model/journal.ts";
import type { Faults, Limits } from "./faults.ts";
import { Sdk } from "./sdk.ts";
import { type Ask, Stumbled } from "./sdk_words.ts";
import type { World } from "./world.ts";

export interface StreamOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  /** Whether notifications reach the service while it runs. */
  readonly isBidirectional: boolean;
  readonly post: (event: Event) => void;
  /** The server has heard how this attempt ended. */
  readonly over: () => void;
  /** Somebody broke a promise. */
  readonly failed: (cause: unknown) => void;
}

const PIN = { deployment: "dp_1", protocol: 6 } as const;

/** One attempt on its way through a service: frames out, notifications in, then an end. */
export class Stream {
  readonly #options: StreamOptions;
  readonly #attempt: Attempt;
  readonly #sdk: Sdk;
  /** Entries below this were written to the service (service protocol §4.15, the watermark). */
  #delivered: number;
  #sent = 0;
  #last: Pick<Heard, "first" | "frames"> | undefined;
  /** Nothing reaches the service any more. */
  #isDeaf: boolean;
  /** The server thinks this attempt is over; a service that never noticed may go on. */
  #isOver = false;
  #isGone = false;
  readonly #told = new Set<number>();
  #lastArrival = 0;
  #woken: (() => void) | undefined;

  constructor(attempt: Attempt, options: StreamOptions) {
    this.#options = options;
    this.#attempt = attempt;
    const { world } = options;
    this.#sdk = new Sdk(attempt, { chance: () => world.chance.next(), now: () => world.mono });
    this.#delivered = attempt.entries.length;
    this.#isDeaf = !options.isBidirectional;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether this attempt knows of an entry of the journal, or was told on the way. */
  wasTold(index: number): boolean {
    return index < this.#attempt.entries.length || this.#told.has(index);
  }

  /** The whole life of the stream. Never rejects. */
  async live(): Promise<void> {
    try {
      await this.#run(this.#sdk.run());
    } catch (cause) {
      if (!(cause instanceof Stumbled)) return this.#options.failed(cause);
      await this.#flush();
      if (cause.how === "mute") this.#end({ kind: "ended" });
      else this.#fail(cause.how === "soon" ? 7 : undefined);
    }
  }

  /** A notification on its way to the service. They arrive in order, or not at all. */
  tell(index: number, entry: Entry): void {
    const { world, faults } = this.#options;
    this.#told.add(index);
    if (this.#isDeaf || index < this.#attempt.entries.length) return;
    if (world.chance.happens(faults().notifyLost)) this.#isDeaf = true;
    if (this.#isDeaf) return;
    this.#lastArrival = Math.max(this.#lastArrival, world.mono + world.chance.int(0, 5));
    world.after(this.#lastArrival - world.mono, () => {
      if (this.#isDeaf || this.#isOver) return;
      if (index < this.#delivered) this.#options.failed(new Error("News came in the wrong order"));
      this.#delivered = index + 1;
      this.#sdk.learn(entry, index);
      this.#woken?.();
    });
  }

  /** The server tears the stream down. */
  abort(): void {
    this.#isOver = true;
    this.#isGone = !this.#becomesZombie();
    this.#woken?.();
  }

  async #run(asks: Generator<Ask, void>): Promise<void> {
    const { world } = this.#options;
    for (const ask of asks) {
      if (ask.kind === "work") {
        await world.sleep(world.chance.int(0, 10));
        if (world.chance.happens(0.5) && !await this.#flush()) return;
        continue;
      }
      if (!await this.#flush() || !await this.#hears(ask.any)) return;
    }
    if (await this.#flush()) this.#end({ kind: "ended" });
  }

  /** Waits for one of these; false: the service is parked, or gone. */
  async #hears(any: readonly number[]): Promise<boolean> {
    const { world, limits } = this.#options;
    const until = world.mono + (this.#isDeaf ? 0 : world.chance.int(0, limits.patienceMs));
    while (!this.#isGone && !any.some((one) => this.#sdk.hears(one))) {
      if (world.mono >= until) {
        // The server closes the request half, then the SDK, which has seen all of it, suspends.
        this.#isDeaf = true;
        const awaiting = this.#sdk.awaiting(any), delivered = this.#delivered;
        await world.sleep(world.chance.int(0, 5));
        this.#end({ kind: "suspended", awaiting, delivered });
        return false;
      }
      await new Promise<void>((resolve) => {
        const cancel = world.after(until - world.mono, resolve);
        this.#woken = () => (cancel(), resolve());
      });
      this.#woken = undefined;
    }
    return !this.#isGone;
  }

  /** Sends what was said, in groups as a network cuts them. False: the stream is no more. */
  async #flush(): Promise<boolean> {
    const { world, faults } = this.#options, { chance } = world;
    while (!this.#isGone && this.#sdk.frames.length > 0) {
      await world.sleep(chance.int(0, 6));
      if (this.#isGone) return false;
      if (chance.happens(faults().streamLost)) {
        this.#fail(chance.happens(0.3) ? chance.int(0, 100) : undefined);
        if (!this.#becomesZombie()) return false;
        await world.sleep(chance.int(0, 600));
      }
      this.#send(this.#sdk.frames.splice(0, chance.int(1, 4)));
    }
    return !this.#isGone;
  }

  #send(frames: Heard["frames"]): void {
    const { id } = this.#attempt.invocation, { attempt } = this.#attempt;
    const { chance } = this.#options.world;
    const own = { first: this.#sent, frames };
    // A repeat that brings something new: what is known must be dropped, the rest taken.
    const last = this.#last;
    const both = last && chance.happens(this.#options.faults().regrouped)
      ? { first: last.first, frames: [...last.frames, ...frames] }
      : own;
    this.#sent += frames.length;
    this.#last = own;
    this.#post({ type: "heard", id, attempt, ...both, pin: PIN, entropy: chance.bytes(16) });
  }

  #fail(retryAfterMs?: number): void {
    const failure = { code: "RT0007", status: 500, message: "simulated" };
    const soon = retryAfterMs === undefined ? {} : { retryAfterMs };
    this.#end({ kind: "failed", failure, reached: true, ...soon });
  }

  #end(outcome: Outcome): void {
    const { id } = this.#attempt.invocation, { attempt } = this.#attempt;
    const chance = this.#options.world.chance.next();
    this.#isOver = true;
    this.#isDeaf = true;
    this.#post({ type: "attemptEnded", id, attempt, outcome, chance });
    this.#options.over();
  }

  /** Some services never notice that nobody listens. */
  #becomesZombie(): boolean {
    const { world, faults } = this.#options;
    return world.chance.happens(faults().zombie);
  }

  #post(event: Event): void {
    const { world, faults, post } = this.#options;
    post(event);
    if (world.chance.happens(faults().doubled)) {
      world.after(world.chance.int(0, 200), () => post(event));
    }
  }
}
