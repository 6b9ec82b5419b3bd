import type { DialListener, DialRequest } from "../../src/dial.ts";
import { newInvocationId } from "../../src/model/id.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { Schema } from "../../src/model/schema.ts";
import type { Attempts } from "../../src/outbound/attempts.ts";
import type { Clock, Mailbox } from "../../src/ports.ts";
import { defaults, deployment, targetOf } from "../support/schema.ts";
import { HandlerSide, WAITS } from "./handler_side.ts";
import { Broken, must } from "./must.ts";
import { SlotOrder } from "./slot_order.ts";
import { SlowStore } from "./slow_store.ts";
import type { System } from "./system.ts";
import { World } from "./world.ts";

/** What is simulated: partitions whose attempts are the real ones. */
export interface OutboundSystem extends Pick<System, "Host"> {
  readonly Attempts: new (...given: ConstructorParameters<typeof Attempts>) => Attempts;
}

const FAULTS_MS = 4_000;
const TIMEOUT_MS = 60_000;
const ALARMS_MAX = 60_000;
const TARGETS = ["greeter/hi", "counter/a/add", "counter/a/add", "counter/b/add"] as const;
const RETRY = { initialIntervalMs: 15, maxIntervalMs: 100, factor: 2, maxAttempts: 1e9 } as const;

const schema = new Schema([deployment], {
  ...defaults,
  inactivityTimeoutMs: WAITS.inactivityMs,
  abortTimeoutMs: WAITS.abortMs,
  retry: { ...RETRY, onMaxAttempts: "pause" },
});

/** Attempts that may run at once. */
const SLOTS = [1, 2, 3, 1_000] as const;
/** How long so few attempts may take to begin when nothing else goes on. */
const BEGIN_MS = 2_000;
/** What a level of priority is worth: low ones pass high ones within a run. */
const AGING_MS = 150;

/**
 * One seed of invocations, of some objects and of none, whose handlers may work longer than the
 * server waits, while operators meddle and the server starts again. What was broken, with the end of
 * the trace; undefined: no two handler sides overlapped that must not, never more had a slot than the limit
 * allows, slots were given in the order of priorities, and no slot was lost.
 */
export async function overlapOf(
  system: OutboundSystem,
  seed: number,
): Promise<string | undefined> {
  const play = new Play(system, new World(seed));
  try {
    await play.run();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof Broken)) throw cause;
    const trace = play.world.trace.slice(-Number(globalThis.process.env["TRACE"] ?? 25));
    return [`Seed ${seed}: ${cause.message}`, ...trace].join("\n");
  }
}

class Play {
  readonly world: World;
  readonly #system: OutboundSystem;
  readonly #store: SlowStore;
  /** How many handlers have begun, by invocation. */
  readonly #begun = new Map<string, number>();
  readonly #clock: Clock;
  readonly #sides: HandlerSide[] = [];
  readonly #ids: string[] = [];
  readonly #finished = new Set<string>();
  readonly #killed = new Set<string>();
  #isCalm = false;
  #broken: Broken | undefined;
  #host: InstanceType<OutboundSystem["Host"]> | undefined;
  #attempts: Attempts | undefined;
  /** Slots of this life, and the number of its first side. */
  #slots: number = SLOTS[0];
  #firstSide = 0;
  /** Handlers stay at work until this is over. */
  #isHeld = false;

  constructor(system: OutboundSystem, world: World) {
    this.#system = system;
    this.world = world;
    this.#store = new SlowStore(world);
    this.#clock = {
      now: () => world.wall,
      at: (due, call) => world.after(due - world.wall, call),
      soon: (call) => void world.after(0, call),
    };
  }

  async run(): Promise<void> {
    const { world } = this, { chance } = world;
    await this.#start();
    for (let count = chance.int(2, 8); count > 0; count--) {
      world.after(chance.int(0, 1_500), () => void this.#invoke().catch(() => {}));
    }
    for (let count = chance.int(0, 8); count > 0; count--) {
      world.after(chance.int(0, FAULTS_MS), () => this.#meddle());
    }
    if (chance.happens(0.3)) world.after(chance.int(0, FAULTS_MS), () => void this.#restart());
    await this.#until(FAULTS_MS, () => false);
    this.#isCalm = true;
    for (const id of this.#ids) this.#operate(id, "resume");
    await this.#until(TIMEOUT_MS, () => this.#finished.size === this.#ids.length);
    must(this.#finished.size === this.#ids.length, () => "Not everything finished");
    await this.#until(TIMEOUT_MS, () => this.#sides.every(({ isClosed }) => isClosed));
    must(this.#sides.every(({ isClosed }) => isClosed), () => "A stream was left open");
    must(this.#attempts?.load.running === 0, () => "An attempt that is over holds its slot");
    await this.#mustHaveSlots();
    this.#host?.close();
  }

  /** Has one more work than there are slots: all slots are there, and one has to wait. */
  async #mustHaveSlots(): Promise<void> {
    if (this.#slots > 10) return;
    this.#isHeld = true;
    for (let count = this.#slots; count >= 0; count--) {
      void this.#invoke("greeter/hi").catch(() => {});
    }
    await this.#until(BEGIN_MS, () => this.#speaking.length >= this.#slots);
    const { length } = this.#speaking;
    must(
      length === this.#slots,
      () => `${length} attempts run, and there are ${this.#slots} slots`,
    );
    await this.#until(BEGIN_MS, () => false);
    this.#isHeld = false;
    for (const side of this.#sides) side.release();
    await this.#until(TIMEOUT_MS, () => this.#finished.size === this.#ids.length);
    must(this.#finished.size === this.#ids.length, () => "The one without a slot never began");
  }

  /** Sides of this life that have not said how their attempt ends: each has a slot. */
  get #speaking(): HandlerSide[] {
    return this.#sides.slice(this.#firstSide).filter(({ isSpeaking }) => isSpeaking);
  }

  async #until(ms: number, done: () => boolean): Promise<void> {
    const { world } = this;
    const isDone = () => this.#broken !== undefined || done();
    await world.run(isDone, { alarmsMax: ALARMS_MAX, until: world.mono + ms });
    if (this.#broken) throw this.#broken;
  }

  #open(request: DialRequest, listener: DialListener): HandlerSide {
    const { world } = this;
    const isCalm = this.#isCalm;
    const isHeld = this.#isHeld;
    const begins = () => this.#begins(side);
    const given = { world, request, listener, isCalm, isHeld, begins };
    const side: HandlerSide = new HandlerSide(this.#sides.length, given);
    // The server opens it if it has not read yet that the invocation is killed.
    side.isExcused = this.#killed.has(side.id);
    this.#sides.push(side);
    const { length } = this.#speaking;
    if (length > this.#slots) {
      this.#broken ??= new Broken(`${length} attempts have a slot, and there are ${this.#slots}`);
    }
    return side;
  }

  /** A handler begins: its attempt is durable, and no other is at work that it must not meet. */
  #begins(side: HandlerSide): void {
    const begun = (this.#begun.get(side.id) ?? 0) + 1;
    this.#begun.set(side.id, begun);
    if (begun > this.#store.attemptsOf(side.id)) {
      this.#broken ??= new Broken(`Side ${side.number} began before its attempt was durable`);
    }
    const rival = this.#sides.find((one) =>
      !one.isOver && (one.id === side.id || one.key !== undefined && one.key === side.key)
    );
    if (rival) {
      this.#broken ??= new Broken(`Side ${side.number} began while side ${rival.number} works`);
    }
  }

  async #start(): Promise<void> {
    const { chance } = this.world;
    this.#slots = chance.pick(SLOTS);
    this.#firstSide = this.#sides.length;
    this.#host = new this.#system.Host({
      range: ONLY_PARTITION,
      store: this.#store,
      clock: this.#clock,
      log: (level, message, fields) => this.world.log(`${level} ${message} ${fields?.["cause"]}`),
      schema: () => schema,
      attempts: (send) => {
        const order = new SlotOrder({ agingMs: AGING_MS, now: () => this.world.wall });
        const watched = this.#meddling(this.#ordered(send, order));
        return order.watch(this.#attempts = this.#attemptsOf(watched, this.#slots));
      },
      turnEventsMax: 100,
      releaseEffectsMax: 32,
      mailboxEventsMax: 65_536,
      residentBytesMax: 1 << 20,
      timersMax: 1_000,
      cleanupIntervalMs: 3_600_000,
    });
    await this.#host.open();
  }

  #attemptsOf(send: Mailbox, concurrencyMax: number): Attempts {
    const { world } = this;
    const open = (request: DialRequest, listener: DialListener) => this.#open(request, listener);
    return new this.#system.Attempts({
      dial: { open, close: () => Promise.resolve() },
      clock: this.#clock,
      random: (size) => world.chance.bytes(size),
      log: () => {},
      send,
      schema: () => schema,
    }, { concurrencyMax, drainMs: WAITS.drainMs, priorityAgingMs: AGING_MS });
  }

  /** Another process takes over: this one lets go of all streams first. */
  async #restart(): Promise<void> {
    this.world.log("restart");
    for (const side of this.#sides) side.isExcused = true;
    this.#host?.close();
    await this.#start();
    for (const id of this.#ids) this.#await(id);
  }

  async #invoke(path?: typeof TARGETS[number]): Promise<void> {
    const { chance } = this.world;
    const target = targetOf(path ?? chance.pick(TARGETS));
    const identity = { ...target, isWorkflowRun: false };
    const { id, fresh } = newInvocationId(identity, chance.bytes(16), this.world.wall);
    await this.#host?.partitionClient.send({
      id,
      fresh,
      target,
      headers: [],
      value: new Uint8Array(0),
      origin: { by: "ingress" },
      retention: { resultMs: 3_600_000, journalMs: 3_600_000 },
      priority: chance.pick([0, 4, 9]),
    });
    this.#ids.push(id);
    this.#await(id);
  }

  /** Waits for a result. One who waits at a server that ends waits again at the next. */
  #await(id: string): void {
    const host = this.#host;
    host?.partitionClient.attach(id).then(() => this.#finished.add(id), () => {});
  }

  /** Looks at every slot that is offered. `slotFree` without a callback only ends an attempt. */
  #ordered(send: Mailbox, order: SlotOrder): Mailbox {
    return (event, durable) => {
      if (event.type === "slotFree" && durable !== undefined) {
        try {
          order.offered(event.id);
        } catch (cause) {
          if (!(cause instanceof Broken)) throw cause;
          this.#broken ??= cause;
        }
      }
      send(event, durable);
    };
  }

  /** Now and then somebody asks for what leaves a slot that was just offered without its attempt. */
  #meddling(send: Mailbox): Mailbox {
    return (event, durable) => {
      const isOffer = event.type === "slotFree" && !this.#isCalm;
      if (isOffer && this.world.chance.happens(0.3)) this.#meddle(event.id);
      send(event, durable);
    };
  }

  #meddle(whom?: string): void {
    const { chance } = this.world;
    if (this.#ids.length === 0) return;
    const id = whom ?? chance.pick(this.#ids);
    const kind = chance.pick(["pause", "kill", "cancel"] as const);
    this.world.log(`${kind} ${id.slice(-8)}`);
    if (kind === "kill") {
      this.#killed.add(id);
      for (const side of this.#sides) side.isExcused ||= side.id === id;
    }
    this.#operate(id, kind);
  }

  #operate(id: string, kind: "pause" | "kill" | "cancel" | "resume"): void {
    this.#host?.partitionClient.operate(id, { kind }).catch(() => {});
  }
}
