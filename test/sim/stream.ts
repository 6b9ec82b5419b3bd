import type { Attempt } from "../../src/engine/effect.ts";
import type { Event, FramesReceived, Outcome } from "../../src/engine/event.ts";
import type { Awaiting, Pin } from "../../src/model/invocation.ts";
import type { Entry } from "../../src/model/journal.ts";
import type { Faults, Limits } from "./faults.ts";
import { Sdk } from "./sdk.ts";
import type { Stumble } from "./program.ts";
import { type Ask, Stumbled } from "./sdk_words.ts";
import type { World } from "./world.ts";

export interface StreamOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  /** Whether notifications reach the service while it runs. */
  readonly isBidirectional: boolean;
  /** The id of an invocation that programs refer to by name. */
  readonly idOf: (name: string) => string;
  /** Where it runs, and in which version. */
  readonly pin: Pin;
  /** Whether the invocation still is the one that this attempt began for. */
  readonly isCurrent: () => boolean;
  /** The service goes to sleep. */
  readonly suspends: (awaiting: Awaiting, delivered: number) => void;
  readonly post: (event: Event) => void;
  /** The service says that there shall be no next attempt. */
  readonly gaveUp: (behavior: "pause" | "fail") => void;
  /** The server has heard how this attempt ended. */
  readonly over: () => void;
  /** Somebody broke a promise. */
  readonly failed: (cause: unknown) => void;
}

/** One attempt on its way through a service: frames out, notifications in, then an end. */
export class Stream {
  readonly #options: StreamOptions;
  readonly #attempt: Attempt;
  readonly #sdk: Sdk;
  /**
   * Entries below this were written to the service (docs/spec/service-protocol.md#suspension, the
   * watermark).
   */
  #delivered: number;
  #sent = 0;
  #last: Pick<FramesReceived, "first" | "frames"> | undefined;
  /** Nothing reaches the service any more. */
  #isDeaf: boolean;
  /** The server thinks this attempt is over; a service that never noticed may go on. */
  #isOver = false;
  #isGone = false;
  #isYielding = false;
  readonly #notified = new Set<number>();
  #lastArrival = 0;
  #woken: (() => void) | undefined;

  constructor(attempt: Attempt, options: StreamOptions) {
    this.#options = options;
    this.#attempt = attempt;
    const { world, idOf, pin: { protocol } } = options;
    const chance = () => world.chance.next(), now = () => world.mono;
    this.#sdk = new Sdk(attempt, { chance, now, idOf, protocol });
    this.#delivered = attempt.entries.length;
    this.#isDeaf = !options.isBidirectional;
  }

  /** Whether the service was told to suspend. */
  get isYielding(): boolean {
    return this.#isYielding;
  }

  /** Whether this attempt knows of an entry of the journal, or was notified on the way. */
  wasNotified(index: number): boolean {
    return index < this.#attempt.entries.length || this.#notified.has(index);
  }

  /** The whole life of the stream. Never rejects. */
  async live(): Promise<void> {
    try {
      await this.#run(this.#sdk.run());
    } catch (cause) {
      if (!(cause instanceof Stumbled)) return this.#options.failed(cause);
      await this.#flush();
      if (cause.how === "mute") this.#end({ kind: "ended" });
      else this.#fail(cause.how);
    }
  }

  /** A notification on its way to the service. They arrive in order, or not at all. */
  tell(index: number, entry: Entry): void {
    const { world, faults } = this.#options;
    this.#notified.add(index);
    if (this.#isDeaf || index < this.#attempt.entries.length) return;
    if (world.chance.happens(faults().notifyLost)) this.#isDeaf = true;
    if (this.#isDeaf) return;
    this.#lastArrival = Math.max(this.#lastArrival, world.mono + world.chance.int(0, 5));
    world.after(this.#lastArrival - world.mono, () => {
      if (this.#isDeaf || this.#isOver) return;
      if (index < this.#delivered) {
        this.#options.failed(new Error("Notifications came in the wrong order"));
      }
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

  /** The server closes the request half: a service that has nothing left to do suspends. */
  yield(): void {
    this.#isYielding = true;
    this.#isDeaf = true;
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
      if (!await this.#flush() || !await this.#hears(ask)) return;
    }
    if (await this.#flush()) this.#end({ kind: "ended" });
  }

  /** Waits until it can go on; false: the service is parked, or gone. */
  async #hears(ask: Ask & { kind: "await" }): Promise<boolean> {
    const { world, limits, suspends } = this.#options, replay = this.#sdk.replay;
    const until = world.mono + (this.#isDeaf ? 0 : world.chance.int(0, limits.timeoutMs));
    while (!this.#isGone && !replay.isReady(ask)) {
      if (world.mono >= until || this.#isYielding) {
        // The server closes the request half, then the SDK, which has seen all of it, suspends.
        this.#isDeaf = true;
        const awaiting = this.#sdk.awaiting(ask), delivered = this.#delivered;
        await world.sleep(world.chance.int(0, 5));
        if (!this.#isOver && this.#options.isCurrent()) suspends(awaiting, delivered);
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
        this.#fail(chance.happens(0.3) ? "soon" : "error");
        if (!this.#becomesZombie()) return false;
        await world.sleep(chance.int(0, 600));
      }
      this.#send(this.#sdk.frames.splice(0, chance.int(1, 4)));
    }
    return !this.#isGone;
  }

  #send(frames: FramesReceived["frames"]): void {
    const { id } = this.#attempt.invocation, { attempt } = this.#attempt;
    const { pin, world: { chance } } = this.#options;
    const own = { first: this.#sent, frames };
    // A repeat that brings something new: what is known must be dropped, the rest taken.
    const last = this.#last;
    const both = last && chance.happens(this.#options.faults().regrouped)
      ? { first: last.first, frames: [...last.frames, ...frames] }
      : own;
    this.#sent += frames.length;
    this.#last = own;
    this.#post({ type: "framesReceived", id, attempt, ...both, pin, entropy: chance.bytes(16) });
  }

  #fail(how: Stumble): void {
    const failure = { code: "RT0007", status: 500, message: "simulated" };
    const soon = how === "soon" ? { retryAfterMs: this.#options.world.chance.int(0, 100) } : {};
    const behavior = { pause: { behavior: "pause" }, die: { behavior: "fail" } } as const;
    const other = how === "pause" || how === "die" ? behavior[how] : undefined;
    if (other && !this.#isOver && this.#options.isCurrent()) this.#options.gaveUp(other.behavior);
    this.#end({ kind: "failed", failure, reached: true, ...soon, ...other });
  }

  #end(outcome: Outcome): void {
    const { id } = this.#attempt.invocation, { attempt } = this.#attempt;
    const chance = this.#options.world.chance.next();
    this.#isOver = true;
    this.#isDeaf = true;
    this.#post({ type: "attemptEnded", id, attempt, outcome, jitter: chance });
    this.#options.over();
  }

  /** Some services never notice that nobody listens. */
  #becomesZombie(): boolean {
    const { world, faults } = this.#options;
    return world.chance.happens(faults().zombie);
  }

  #post(event: Event): void {
    const { world, faults, post, isCurrent } = this.#options;
    const say = () => isCurrent() && post(event);
    say();
    if (world.chance.happens(faults().doubled)) world.after(world.chance.int(0, 200), say);
  }
}
