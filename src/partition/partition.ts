import type { Effect } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import { step } from "../engine/step.ts";
import { miss, Turn } from "../engine/turn.ts";
import type { Want } from "../model/rows.ts";
import { Unreadable } from "../model/unreadable.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Meter } from "../observe/meter.ts";
import type { Clock, Lease, Store } from "../ports.ts";
import { Commits } from "./commits.ts";
import { Arrivals } from "./arrivals.ts";
import { framesOf, type QueuedEvent } from "./queued_event.ts";
import { prefetch } from "./prefetch.ts";
import { type OnChange, Resident } from "./resident.ts";
import { type Staging, stagingOf } from "./staging.ts";

export interface PartitionOptions {
  readonly lease: Lease;
  readonly range: PartitionRange;
  readonly clock: Clock;
  readonly store: Store;
  readonly schema: () => Schema;
  /** Hears once why a partition stopped: a lost store, a newer owner, a bug. It never restarts. */
  readonly onFailure: (cause: unknown) => void;
  /** Hears of an event that no turn can take, because a row that it needs cannot be decoded. */
  readonly onRefused: (event: Event, cause: Unreadable) => void;
  /** Runs effects. Called only for turns that are already durable. */
  readonly release: (effects: readonly Effect[]) => void;
  readonly turnEventsMax: number;
  /** As in `HostOptions`. */
  readonly releaseEffectsMax: number;
  readonly residentBytesMax: number;
  readonly meter: Meter;
  readonly invocationChanged?: OnChange | undefined;
  /** As in `HostOptions`. */
  readonly isHeld?: (() => boolean) | undefined;
}

/**
 * The single writer of one partition, and the only place where the pure engine meets time.
 *
 * Events pile up in the mailbox; a turn takes them all. While its commit is in flight the next
 * turn already runs on top of it, and goes into the next commit. So the slower the store, the
 * bigger the group: throughput is kept by batching, never by overlapping writers.
 */
export class Partition {
  readonly #options: PartitionOptions;
  readonly #resident: Resident;
  readonly #commits: Commits;
  readonly #arrivals: Arrivals;
  readonly #staging: Staging | undefined;
  #mailbox: QueuedEvent[] = [];
  #isDue = false;
  #isStopped = false;
  /** Turns that had to be run again because a row was not in memory. */
  reruns = 0;
  turns = 0;
  /** Handed from turn to turn. A boot begins at nothing: no stream of the life before is open. */
  #attemptForgotten = 0;

  constructor(options: PartitionOptions) {
    const { lease, store, clock, residentBytesMax, invocationChanged } = options;
    this.#options = options;
    this.#resident = new Resident(residentBytesMax, invocationChanged);
    this.#commits = new Commits({
      ...options,
      commit: (writes) => store.commit(lease, writes),
      soon: (call) => clock.soon(call),
      markDurable: (commit) => this.#resident.markDurable(commit),
      forget: (table, group) => this.#resident.forget(table, group),
      onFailure: (cause) => this.#stop(cause),
    });
    this.#staging = stagingOf(store, lease, {
      send: (event, durable) => this.#deliver(event, durable),
      onFailure: (cause) => this.#stop(cause),
    });
    this.#arrivals = new Arrivals({
      resident: this.#resident,
      soon: (call) => clock.soon(call),
      release: (queued) => {
        this.#mailbox = [...queued, ...this.#mailbox];
        this.#schedule();
      },
      onFailure: (cause) => this.#stop(cause),
    });
  }

  /** Events that no turn has taken yet. */
  get waiting(): number {
    return this.#mailbox.length + this.#arrivals.waiting + (this.#staging?.waiting ?? 0);
  }

  get residentBytes(): number {
    return this.#resident.bytes;
  }

  /** Calls once the store has been handed all that turns have written so far. */
  whenHandedOver(call: () => void): void {
    this.#commits.whenHandedOver(call);
  }

  /**
   * Offers an event. Once its turn is on disk, its effects are released and then `durable` is called;
   * if we crash first, it never happened. A stopped partition drops what it is offered.
   */
  send(event: Event, durable?: () => void): void {
    if (this.#isStopped || this.#staging?.hold(event, durable)) return;
    this.#deliver(event, durable);
  }

  #deliver(event: Event, durable: (() => void) | undefined): void {
    this.#mailbox.push({ event, durable });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.soon(() => this.#run());
  }

  /** Drops everything in memory. Nothing is released after this. */
  stop(): void {
    this.#isStopped = true;
    this.#mailbox = [];
    this.#arrivals.stop();
    this.#staging?.stop();
    this.#commits.stop();
  }

  #stop(cause: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#options.onFailure(cause);
  }

  #run(): void {
    if (this.#isStopped) return;
    this.#attempt(this.#take(), this.#options.clock.now());
  }

  /** The oldest mail, up to the event with which the turn is full. */
  #take(): readonly QueuedEvent[] {
    const all = this.#arrivals.hold(this.#mailbox);
    let room = this.#options.turnEventsMax;
    let end = 0;
    for (; end < all.length && room > 0; end++) room -= framesOf(all[end]);
    this.#mailbox = end === all.length ? [] : all.slice(end);
    this.#arrivals.taken(end);
    return end === all.length ? all : all.slice(0, end);
  }

  /** Runs a turn; when rows are missing, loads them and runs it again. */
  #attempt(queued: readonly QueuedEvent[], now: number): void {
    const { meter } = this.#options;
    const began = meter.now();
    try {
      const context = { resident: this.#resident, schema: this.#options.schema() };
      const expected = prefetch(queued, context);
      if (expected.length > 0) return this.#load(expected, queued, now);
      const { turn, wants, late, refused } = this.#turn(queued, now);
      if (refused) return this.#refuse(refused, queued, now);
      if (late.length > 0) return this.#again(this.#arrivals.setAside(late, queued), now);
      if (wants.length === 0) {
        this.#finish(turn, queued);
        return meter.turn(meter.now() - began, queued.length);
      }
      this.reruns++;
      meter.reruns++;
      this.#load(wants, queued, now);
    } catch (cause) {
      this.#stop(cause);
    }
  }

  /** Loads rows, and begins the turn of this mail. */
  #load(wants: readonly Want[], queued: readonly QueuedEvent[], now: number): void {
    const { store, lease } = this.#options;
    this.#resident.expect(this.#commits.next - 1);
    store.load(lease, wants).then((loaded) => {
      if (this.#isStopped) return;
      this.#arrivals.begin(this.#resident.add(loaded));
      this.#attempt(queued, now);
    }).catch((cause) => this.#unloaded(cause, queued, now));
  }

  #unloaded(cause: unknown, queued: readonly QueuedEvent[], now: number): void {
    if (this.#isStopped) return;
    if (!(cause instanceof Unreadable)) return this.#stop(cause);
    this.#resident.expect(Infinity);
    this.#resident.block(cause);
    this.#attempt(queued, now);
  }

  /**
   * Runs the turn without an event that meets a row which cannot be decoded. Ending the life of the
   * partition would not help, since the next one meets it again.
   */
  #refuse({ one, cause }: Refused, queued: readonly QueuedEvent[], now: number): void {
    this.#options.onRefused(one.event, cause);
    this.#again(queued.filter((other) => other !== one), now);
  }

  /** In a task of its own, so that many of them do not pile up on the stack. */
  #again(queued: readonly QueuedEvent[], now: number): void {
    this.#options.clock.soon(() => {
      if (!this.#isStopped) this.#attempt(queued, now);
    });
  }

  #finish(turn: Turn, queued: readonly QueuedEvent[]): void {
    this.turns++;
    this.#attemptForgotten = turn.attemptForgotten;
    const commit = this.#commits.next;
    this.#resident.apply(turn, commit);
    const durable = queued.flatMap(({ durable }) => durable ? [durable] : []);
    this.#commits.append(turn, durable);
    this.#arrivals.used();
    this.#isDue = this.#mailbox.length > 0;
    if (this.#isDue) this.#options.clock.soon(() => this.#run());
  }

  #turn(
    queued: readonly QueuedEvent[],
    now: number,
  ): { turn: Turn; wants: Want[]; late: QueuedEvent[]; refused?: Refused } {
    const schema = this.#options.schema();
    const { range } = this.#options;
    const context = { rows: this.#resident, range, attemptForgotten: this.#attemptForgotten };
    const turn = new Turn(now, schema, context);
    const wants: Want[] = [];
    const late: QueuedEvent[] = [];
    for (const one of queued) {
      // After a miss this turn is lost. What follows only tells us what else to load, so it runs
      // on bare rows: a half-applied neighbor must not confuse it.
      const isLost = wants.length > 0 || late.length > 0;
      const page = isLost ? new Turn(now, schema, context) : turn;
      const cause = applied(page, one.event, { isBare: isLost });
      if (cause instanceof Unreadable) return { turn, wants, late, refused: { one, cause } };
      if (cause !== miss) continue;
      const isLate = page.wants.some(({ table, group }) => this.#resident.isArriving(table, group));
      if (isLate) late.push(one);
      else wants.push(...page.wants);
    }
    return { turn, wants: wants.length > 1 ? distinct(wants) : wants, late };
  }
}

/** An event that no turn can take. */
interface Refused {
  readonly one: QueuedEvent;
  readonly cause: Unreadable;
}

/** Many events of a turn ask for the same rows: a busy object's lock, for one. */
function distinct(wants: readonly Want[]): Want[] {
  const seen = new Map<string, Want>();
  for (const want of wants) seen.set(`${want.table}\0${want.item ?? "*"}\0${want.group}`, want);
  return [...seen.values()];
}

/**
 * Applies an event. Answers `miss` when a row it asked for was not in memory, and `Unreadable` when it
 * cannot be decoded. On bare rows an event may lack what those before it would have done, and break an
 * assertion: frames 2 … of an attempt whose frames 0 and 1 were lost with the turn. That says nothing;
 * a real bug shows when the turn runs again.
 */
function applied(
  turn: Turn,
  event: Event,
  { isBare }: { isBare: boolean },
): typeof miss | Unreadable | undefined {
  try {
    step(turn, event);
    return undefined;
  } catch (cause) {
    if (cause instanceof Unreadable) return cause;
    if (cause !== miss && !isBare) throw cause;
    return miss;
  }
}
