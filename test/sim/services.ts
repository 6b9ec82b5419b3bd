import type { Effect } from "../../src/engine/effect.ts";
import type { Event } from "../../src/engine/event.ts";
import type { Pin } from "../../src/model/invocation.ts";
import type { AttemptRunner } from "../../src/partition/life.ts";
import type { Mailbox } from "../../src/ports.ts";
import type { Controllers } from "./controllers.ts";
import type { Faults, Limits } from "./faults.ts";
import type { History } from "./history.ts";
import { aboutOf } from "./coverage.ts";
import type { InvocationRecord } from "./invocation_record.ts";
import { pauseOf } from "./pauses.ts";
import { Stream } from "./stream.ts";
import type { World } from "./world.ts";

export interface ServicesOptions {
  readonly world: World;
  readonly faults: () => Faults;
  readonly limits: Limits;
  readonly controllers: Pick<Controllers, "at" | "schema" | "version">;
  readonly send: Mailbox;
  /** Whether the process still lives; asking may be its last act. */
  readonly touch: () => boolean;
  readonly isAlive: () => boolean;
  /** Called with each effect that the server carries out: is it correct and durable? */
  readonly emitted: (effect: Effect) => void;
  readonly history: History;
  readonly failed: (cause: unknown) => void;
  readonly closed: () => void;
}

/** Deployments come and go between the attempts of one who has said nothing yet. */
const PINS: readonly Pin[] = [
  { deployment: "dp_1", protocol: 6 },
  { deployment: "dp_1", protocol: 7 },
  { deployment: "dp_1", protocol: 7 },
  { deployment: "dp_2", protocol: 6 },
];

/** The services of a simulation, as one life of a partition sees them. */
export class Services implements AttemptRunner {
  readonly #options: ServicesOptions;
  readonly #streams = new Map<string, { readonly attempt: number; readonly stream: Stream }>();
  /** Attempts that wait for a slot. */
  readonly #waiting = new Map<string, number>();
  /** The last attempt of each life of an invocation that was ordered, and the last that got a slot. */
  readonly #ordered = new Map<InvocationRecord, number>();
  readonly #opened = new Map<InvocationRecord, number>();
  /** Slots offered and not taken yet, and the last change of the controls before that. */
  readonly #offers = new Map<string, number>();
  /** Attempts told to suspend before they began: resumed since, they begin and go on. */
  readonly #rested = new Set<string>();
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
    const id = aboutOf(event) ?? "";
    const what = event.type === "attemptEnded" ? event.outcome.kind : "";
    world.log(`post ${event.type} ${id.slice(-12)} ${what}`);
    send(event);
  }

  /** An attempt in flight must be told of every notification. */
  mustHaveHeard(id: string, attempt: number, index: number): void {
    const running = this.#streams.get(id);
    if (running?.attempt !== attempt || running.stream.wasNotified(index)) return;
    this.#fail(`"${id}" was not told of entry ${index}`);
  }

  /** An attempt whose invocation should pause must be told so. */
  mustHaveYielded(id: string, attempt: number): void {
    const running = this.#streams.get(id);
    if (running?.attempt !== attempt || running.stream.isYielding) return;
    if (this.#rested.has(`${id}#${attempt}`)) return;
    this.#fail(`"${id}" was not told to suspend`);
  }

  /** Whoever is killed does not run on. */
  mustBeOver(id: string, attempt: number): void {
    if (this.#streams.get(id)?.attempt === attempt) this.#fail(`"${id}" was killed and runs on`);
  }

  start(effect: Effect & { type: "attempt" }): void {
    if (!this.#listens(effect)) return;
    const { world, faults } = this.#options, { chance } = world;
    const { attempt, invocation: { id } } = effect;
    world.log(`start ${id.slice(-12)}#${attempt} entries=${effect.entries.length}`);
    const running = this.#streams.get(id), name = `${id}#${attempt}`;
    // Whoever was forgotten and comes back begins with the first attempt once more.
    const life = this.#options.history.records.get(id);
    if (!life) return this.#fail(`"${name}" was ordered and is not durable`);
    if (this.#ordered.get(life) === attempt) {
      const since = this.#offers.get(name);
      if (since === undefined) return this.#fail(`"${name}" was ordered twice`);
      this.#offers.delete(name);
      this.#mustNotBePaused(effect, since);
    }
    this.#ordered.set(life, attempt);
    if (effect.invocation.pausing) return this.#fail(`"${name}" was ordered, and should pause`);
    if (running) return this.#fail(`"${id}" runs #${attempt} and #${running.attempt} at once`);
    if ((this.#waiting.get(id) ?? attempt) !== attempt) this.#fail(`"${id}" lost its attempt`);
    if ((this.#opened.get(life) ?? 0) >= attempt) this.#fail(`"${id}" runs #${attempt} again`);
    this.#waiting.delete(id);
    if (chance.happens(faults().noSlot)) return this.#refuse(id, attempt);
    if (chance.happens(faults().unreachable)) {
      const failure = { code: "RT0010", status: 500, message: "nobody there" };
      const outcome = { kind: "failed", failure, reached: false } as const;
      this.#opened.set(life, attempt);
      return this.post({ type: "attemptEnded", id, attempt, outcome, jitter: chance.next() });
    }
    this.#opened.set(life, attempt);
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

  /** As the dispatcher does: who waits for a slot is asked for at once, and so need not start. */
  yield(effect: Effect & { type: "yield" }): void {
    if (!this.#listens(effect)) return;
    const { id, attempt } = effect;
    const running = this.#streams.get(id);
    this.#options.world.log(`yield ${id.slice(-12)}#${attempt}`);
    if (running?.attempt === attempt) return running.stream.yield();
    this.#rested.add(`${id}#${attempt}`);
    if (this.#waiting.get(id) !== attempt || this.#offers.has(`${id}#${attempt}`)) return;
    this.#waiting.delete(id);
    this.#offer(id, attempt);
  }

  close(): void {
    this.isClosed = true;
    for (const { stream } of this.#streams.values()) stream.abort();
    this.#streams.clear();
    this.#waiting.clear();
    this.#options.closed();
  }

  #open(effect: Effect & { type: "attempt" }): void {
    const { world, faults, limits, failed, history } = this.#options;
    const { attempt, invocation: { id, target, pin } } = effect;
    const luck = [...target.service].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 10;
    const isCurrent = history.isCurrent(id);
    const stream: Stream = new Stream(effect, {
      world,
      faults,
      limits,
      failed,
      pin: pin ?? world.chance.pick(PINS),
      isCurrent,
      suspends: (awaiting, delivered) => history.suspends(id, { attempt, awaiting, delivered }),
      gaveUp: (behavior) => history.gaveUp(id, attempt, behavior),
      idOf: (name) => history.idOf(name),
      isBidirectional: luck / 10 >= limits.requestResponse,
      post: (event) => this.post(event),
      over: () => {
        if (this.#streams.get(id)?.stream === stream) this.#streams.delete(id);
        if (isCurrent()) this.#offerLate(effect, isCurrent);
      },
    });
    this.#streams.set(id, { attempt, stream });
    world.after(world.chance.int(0, 3), () => void stream.live());
  }

  #refuse(id: string, attempt: number): void {
    const { world } = this.#options;
    this.#waiting.set(id, attempt);
    world.after(world.chance.int(1, 200), () => {
      if (this.#waiting.get(id) !== attempt) return;
      // Whoever should pause since will not take it, and nobody hears of that.
      this.#waiting.delete(id);
      this.#offer(id, attempt);
    });
  }

  #offer(id: string, attempt: number): void {
    this.#offers.set(`${id}#${attempt}`, this.#options.controllers.version);
    this.post({ type: "slotFree", id, attempt });
  }

  /** What is paused takes no slot. */
  #mustNotBePaused({ invocation, attempt }: Effect & { type: "attempt" }, since: number): void {
    const { controllers } = this.#options;
    const pause = pauseOf(invocation, controllers, { since, until: controllers.version });
    if (pause !== undefined) this.#fail(`"${invocation.id}#${attempt}" begins: ${pause} paused`);
  }

  /** A slot for an attempt that is over: no attempt may take it. */
  #offerLate(
    { attempt, invocation }: Effect & { type: "attempt" },
    isCurrent: () => boolean,
  ): void {
    const { world, faults } = this.#options, { id, idempotencyKey, target } = invocation;
    if (!world.chance.happens(faults().falseAlarm)) return;
    // An id that comes back begins with the same number: see `Operator`.
    const isReused = idempotencyKey !== undefined || target.access === "run";
    world.after(world.chance.int(0, 100), () => {
      if (!isReused || isCurrent()) this.post({ type: "slotFree", id, attempt });
    });
  }

  /** What the server orders. After its last act it orders nothing; after `close` it must not. */
  #listens(effect: Effect): boolean {
    const { touch, emitted } = this.#options;
    if (!touch()) return false;
    if (this.isClosed) this.#fail(`"${effect.type}" was ordered after the end`);
    emitted(effect);
    return !this.isClosed;
  }

  #fail(message: string): void {
    this.#options.failed(new Error(`Invariant: ${message}`));
  }
}
