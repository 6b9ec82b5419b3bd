import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import type { AttemptRunner } from "../../src/partition/host.ts";
import type { Mailbox } from "../../src/ports.ts";
import type { Faults, Limits } from "./faults.ts";
import { Stream } from "./stream.ts";
import type { World } from "./world.ts";

export interface ServicesOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  readonly send: Mailbox;
  /** Whether the process still lives; asking may be its last act. */
  readonly touch: () => boolean;
  readonly isAlive: () => boolean;
  /** The server told the world something: is it true and durable? */
  readonly told: (effect: Effect) => void;
  readonly failed: (cause: unknown) => void;
  readonly closed: () => void;
}

/** The services of a simulation, as one life of a partition sees them. */
export class Services implements AttemptRunner {
  readonly #options: ServicesOptions;
  readonly #streams = new Map<string, { readonly attempt: number; readonly stream: Stream }>();
  /** Attempts that wait for a slot. */
  readonly #waiting = new Map<string, number>();
  /** The last attempt of each invocation that was ordered, and the last that got a slot. */
  readonly #ordered = new Map<string, number>();
  readonly #opened = new Map<string, number>();
  /** Slots offered and not taken yet. */
  readonly #offers = new Set<string>();
  isClosed = false;

  constructor(options: ServicesOptions) {
    this.#options = options;
  }

  /** Attempts in flight, or waiting for a slot. */
  get open(): number {
    return this.#streams.size + this.#waiting.size;
  }

  /** Says something to the server, as an attempt would. */
  post(event: Event): void {
    const { world, send, isAlive } = this.#options;
    if (!isAlive()) return;
    world.log(`post ${event.type} ${event.type === "invoked" ? "" : event.id.slice(-12)}`);
    send(event);
  }

  /** An attempt in flight must be told of every notification. */
  mustHaveHeard(id: string, attempt: number, index: number): void {
    const running = this.#streams.get(id);
    if (running?.attempt !== attempt || running.stream.wasTold(index)) return;
    this.#fail(`"${id}" was not told of entry ${index}`);
  }

  start(effect: Effect & { type: "attempt" }): void {
    if (!this.#listens(effect)) return;
    const { world, faults } = this.#options, { chance } = world;
    const { attempt, invocation: { id } } = effect;
    world.log(`start ${id.slice(-12)}#${attempt} entries=${effect.entries.length}`);
    const running = this.#streams.get(id), name = `${id}#${attempt}`;
    if (this.#ordered.get(id) === attempt && !this.#offers.delete(name)) {
      return this.#fail(`"${name}" was ordered twice`);
    }
    this.#ordered.set(id, attempt);
    if (running) return this.#fail(`"${id}" runs #${attempt} and #${running.attempt} at once`);
    if ((this.#waiting.get(id) ?? attempt) !== attempt) this.#fail(`"${id}" lost its attempt`);
    if ((this.#opened.get(id) ?? 0) >= attempt) this.#fail(`"${id}" runs #${attempt} again`);
    this.#waiting.delete(id);
    if (chance.happens(faults().noSlot)) return this.#refuse(id, attempt);
    if (chance.happens(faults().unreachable)) {
      const failure = { code: "RT0010", status: 500, message: "nobody there" };
      const outcome = { kind: "failed", failure, reached: false } as const;
      this.#opened.set(id, attempt);
      return this.post({ type: "attemptEnded", id, attempt, outcome, chance: chance.next() });
    }
    this.#open(effect);
  }

  notify(effect: Effect & { type: "notify" }): void {
    if (!this.#listens(effect)) return;
    const { id, attempt, index, entry } = effect;
    const running = this.#streams.get(id);
    if (running?.attempt === attempt) running.stream.tell(index, entry);
  }

  abort(effect: Effect & { type: "abort" }): void {
    if (!this.#listens(effect)) return;
    const { id, attempt } = effect;
    const running = this.#streams.get(id);
    this.#options.world.log(`abort ${id.slice(-12)}#${attempt}`);
    if (running?.attempt === attempt) {
      this.#streams.delete(id);
      running.stream.abort();
    }
    if (this.#waiting.get(id) === attempt) this.#waiting.delete(id);
  }

  close(): void {
    this.isClosed = true;
    for (const { stream } of this.#streams.values()) stream.abort();
    this.#streams.clear();
    this.#waiting.clear();
    this.#options.closed();
  }

  #open(effect: Effect & { type: "attempt" }): void {
    const { world, faults, limits, failed } = this.#options;
    const { attempt, invocation: { id, target } } = effect;
    const luck = [...target.service].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 10;
    const stream: Stream = new Stream(effect, {
      world,
      faults,
      limits,
      failed,
      isBidirectional: luck / 10 >= limits.requestResponse,
      post: (event) => this.post(event),
      over: () => {
        if (this.#streams.get(id)?.stream === stream) this.#streams.delete(id);
        this.#offerLate(id, attempt);
      },
    });
    this.#streams.set(id, { attempt, stream });
    this.#opened.set(id, attempt);
    world.after(world.chance.int(0, 3), () => void stream.live());
  }

  #refuse(id: string, attempt: number): void {
    const { world } = this.#options;
    this.#waiting.set(id, attempt);
    world.after(world.chance.int(1, 200), () => {
      if (this.#waiting.get(id) !== attempt) return;
      this.#offers.add(`${id}#${attempt}`);
      this.post({ type: "slotFree", id, attempt });
    });
  }

  /** A slot for an attempt that is over: nobody may take it. */
  #offerLate(id: string, attempt: number): void {
    const { world, faults } = this.#options;
    if (!world.chance.happens(faults().falseAlarm)) return;
    world.after(world.chance.int(0, 100), () => this.post({ type: "slotFree", id, attempt }));
  }

  /** What the server orders. After its last act it orders nothing; after `close` it must not. */
  #listens(effect: Effect): boolean {
    const { touch, told } = this.#options;
    if (!touch()) return false;
    if (this.isClosed) this.#fail(`"${effect.type}" was ordered after the end`);
    told(effect);
    return !this.isClosed;
  }

  #fail(message: string): void {
    this.#options.failed(new Error(`Invariant: ${message}`));
  }
}
