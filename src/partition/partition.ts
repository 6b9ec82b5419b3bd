import type { Effect } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import type { Corrected } from "../engine/flow/slots.ts";
import type { Turn } from "../engine/turn.ts";
import type { Unreadable } from "../model/unreadable.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Meter } from "../observe/meter.ts";
import type { Clock, Lease, Store } from "../ports.ts";
import { Arrivals } from "./arrivals.ts";
import { CommittedChanges } from "./committed_changes.ts";
import { Commits, type CommitsOptions, QUIET_COMMIT_MS } from "./commits.ts";
import { EventQueue } from "./event_queue.ts";
import { type Entry, WINDOW } from "./flow/wait_queue.ts";
import { Scheduler } from "./flow/scheduler.ts";
import { Inboxes } from "./inboxes.ts";
import { Letters } from "./letters.ts";
import type { QueuedEvent } from "./queued_event.ts";
import { type OnChange, Resident } from "./resident.ts";
import { type Staging, stagingOf } from "./staging.ts";
import { type TurnEvents, TurnRunner } from "./turn_runner.ts";

export interface PartitionOptions {
  readonly lease: Lease;
  readonly range: PartitionRange;
  readonly clock: Clock;
  readonly store: Store;
  readonly schema: () => Schema;
  /** Called once, with the reason for which it stopped: a lost store, a newer owner, a bug. */
  readonly onFailure: (cause: unknown) => void;
  /** Called with an event that no turn can take, because a row that it needs cannot be decoded. */
  readonly onRefused: (event: Event, cause: Unreadable) => void;
  /** Told of each bank that a turn has corrected, once that is durable. Absent: nobody is told. */
  readonly onCorrected?: (corrected: Corrected) => void;
  /** Runs effects. Called only for turns that are already durable. */
  readonly release: (effects: readonly Effect[]) => void;
  /** As in `CommitsOptions`. */
  readonly prepare?: CommitsOptions["prepare"];
  readonly turnEventsMax: number;
  /** As in `HostOptions`. */
  readonly releaseEffectsMax: number;
  readonly residentBytesMax: number;
  /** As in `HostOptions`. */
  readonly priorityAgingMs?: number;
  readonly queueWindow?: number;
  readonly grantsMax?: number;
  /** Invocations of one subscription that are not completed here. Absent: no limit. */
  readonly inboxLimit?: number;
  readonly meter: Meter;
  readonly invocationChanged?: OnChange | undefined;
  /** As in `HostOptions`. */
  readonly isHeld?: (() => boolean) | undefined;
}

/**
 * The single writer of one partition, and the only place where the pure engine meets time.
 *
 * Events queue in the mailbox; a turn takes them all. While its commit is in flight the next turn
 * already runs on top of it, and goes into the next commit (group commit). So the slower the store,
 * the more turns a commit has: throughput is kept by batching, never by overlapping writers.
 */
export class Partition {
  readonly #options: PartitionOptions;
  readonly #mailbox: EventQueue;
  readonly #runner: TurnRunner;
  readonly #commits: Commits;
  readonly #resident: Resident;
  readonly #arrivals: Arrivals;
  readonly #staging: Staging | undefined;
  /** Who waits for limits. It is told of holders and waiters before the first event. */
  readonly scheduler: Scheduler;
  /** What its commits have changed. */
  readonly changes: CommittedChanges;
  /** How many invocations of each subscription are not completed. Counts before the first event. */
  readonly inboxes: Inboxes;
  /** Which invocations owe a dead letter. */
  readonly letters: Letters;
  #isOpen = false;
  #isDue = false;
  /** Whether slots were granted since the last turn ended. */
  #hasGranted = false;
  #isStopped = false;

  constructor(options: PartitionOptions) {
    const { lease, store, clock } = options;
    const onFailure = (cause: unknown) => this.#stop(cause);
    const soon = (call: () => void) => clock.soon(call);
    const inboxes = this.inboxes = new Inboxes(options.inboxLimit);
    const letters = this.letters = new Letters({ clock, load: (...page) => this.#owing(...page) });
    const resident = this.#resident = residentOf(options, { inboxes, letters });
    this.#options = options;
    this.changes = new CommittedChanges({ clock, life: lifeOf(lease) });
    this.#commits = new Commits({
      ...options,
      onCommitted: (writes) => this.changes.note(writes),
      commit: (writes) => store.commit(lease, writes),
      soon,
      later: (call) => void clock.at(clock.now() + QUIET_COMMIT_MS, call),
      markDurable: (commit) => resident.markDurable(commit),
      forget: (table, group) => resident.forget(table, group),
      onFailure,
    });
    this.#staging = stagingOf(store, lease, {
      send: (event, durable) => this.#deliver(event, durable),
      onFailure,
    });
    const release = (queued: readonly QueuedEvent[]) => this.#back(queued);
    const arrivals = this.#arrivals = new Arrivals({ resident, soon, release, onFailure });
    this.#mailbox = new EventQueue(arrivals);
    this.scheduler = new Scheduler({
      ...options,
      send: (granted) => this.#grant(granted),
      load: (queue, after) => this.#waiting(queue, after),
      onFailure,
    });
    this.#runner = new TurnRunner({
      ...{ ...options, scheduler: this.scheduler, inboxes, resident, arrivals },
      lastCommit: () => this.#commits.next - 1,
      rerun: (events) => this.#run(events),
      onFailure,
    });
  }

  /**
   * Turns begin, once `recover` has told the scheduler who holds slots and who waits. Events that came
   * before wait until now: those that hold slots are read page by page, and one that a turn had changed
   * meanwhile would be counted twice.
   */
  open(): void {
    this.#isOpen = true;
    this.scheduler.open();
    if (this.#mailbox.length > 0) this.#schedule();
  }

  /**
   * Runs a turn, and at once the one of the grants that it has made possible, which start in the same
   * commit: each round of the event loop would keep a limit of one idle. `again`: the events of an
   * abandoned turn, whose rows have been loaded since.
   */
  #run(again?: TurnEvents): void {
    if (!this.#turn({ again, mayBeFollowed: true })) return;
    this.#turn({ mayBeFollowed: false });
    this.#commits.flush();
  }

  /** The five lines that `README.md` shows. Returns whether its commit waits for the next turn. */
  #turn(
    { again, mayBeFollowed }: { again?: TurnEvents | undefined; mayBeFollowed: boolean },
  ): boolean {
    if (this.#isStopped) return false;
    const { clock, meter, turnEventsMax } = this.#options;
    const began = meter.now();
    try {
      const events = again ?? { queued: this.#mailbox.take(turnEventsMax), now: clock.now() };
      const turn = this.#runner.run(events);
      if (!turn) return false;
      const commit = this.#commits.append(turn.writes);
      this.#resident.apply(turn, commit);
      const isFollowed = mayBeFollowed && this.#hasGranted && this.#mailbox.length > 0;
      const durable = [...callbacksOf(events.queued), ...this.#reportsOf(turn)];
      this.#commits.releaseWhenDurable(turn.effects, durable, { isFollowed });
      this.#ended(isFollowed);
      meter.turn(meter.now() - began, events.queued.length);
      return isFollowed;
    } catch (cause) {
      this.#stop(cause);
      return false;
    }
  }

  /** Events that no turn has taken yet. */
  get waiting(): number {
    return this.#mailbox.length + this.#arrivals.waiting + (this.#staging?.waiting ?? 0);
  }

  /** Turns that were completed. */
  get turns(): number {
    return this.#runner.turns;
  }

  /** An estimate. */
  get residentBytes(): number {
    return this.#resident.bytes;
  }

  /** Calls back once the store has been handed all that turns have written so far. */
  whenHandedOver(call: () => void): void {
    this.#commits.whenHandedOver(call);
  }

  /**
   * Puts an event into the mailbox, before or after `open`. Once its turn is durable, its effects are
   * released and then `durable` is called; if the process dies first, the event has no effect. A stopped
   * partition drops the event.
   */
  send(event: Event, durable?: () => void): void {
    if (this.#isStopped || this.#staging?.hold(event, durable)) return;
    this.#deliver(event, durable);
  }

  #deliver(event: Event, durable: (() => void) | undefined): void {
    this.#mailbox.push({ event, durable });
    this.#schedule();
  }

  #grant(granted: Event): void {
    this.#hasGranted = true;
    this.send(granted);
  }

  #back(queued: readonly QueuedEvent[]): void {
    this.#mailbox.unshift(queued);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isDue || !this.#isOpen) return;
    this.#isDue = true;
    this.#options.clock.soon(() => this.#run());
  }

  /** Drops all events and effects. Nothing is released after this. */
  stop(): void {
    this.#isStopped = true;
    this.#mailbox.clear();
    this.#runner.stop();
    this.#arrivals.stop();
    this.scheduler.stop();
    this.#staging?.stop();
    this.#commits.stop();
    this.letters.stop();
    this.changes.stop();
  }

  /** The next entries of a queue, when the store has been handed all that turns have written. */
  async #waiting(queue: string, seq: number): Promise<readonly Entry[]> {
    const { store, lease, queueWindow: limit = WINDOW } = this.#options;
    const after = { queue, seq };
    // The turn at whose end this is asked has not appended its writes yet.
    await Promise.resolve();
    await new Promise<void>((resolve) => this.#commits.whenHandedOver(resolve));
    return store.scan(lease, { kind: "queued", after, isSameQueue: true, limit });
  }

  /** Never resolves if this stops meanwhile. */
  async #owing(after: string | undefined, limit: number): Promise<readonly { id: string }[]> {
    const { store, lease } = this.#options;
    await new Promise<void>((resolve) => this.#commits.whenHandedOver(resolve));
    return await store.scan(lease, {
      kind: "letters",
      limit,
      ...(after !== undefined && { after }),
    });
  }

  #stop(cause: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#options.onFailure(cause);
  }

  /** Not before the commit: who has lost the lease may read what the new owner writes meanwhile. */
  #reportsOf({ slots: { corrected } }: Turn): (() => void)[] {
    return corrected.map((one) => () => this.#options.onCorrected?.(one));
  }

  /** After a turn: lets go of groups that it needed, and runs the next one if events wait. */
  #ended(isFollowed: boolean): void {
    this.#hasGranted = false;
    this.#arrivals.used();
    this.#isDue = isFollowed;
    if (!isFollowed && this.#mailbox.length > 0) this.#schedule();
  }
}

/** Each life of a partition has a lease of its own. */
function lifeOf({ partition, epoch }: Lease): string {
  return `${partition}.${epoch}`;
}

function residentOf(
  { residentBytesMax, invocationChanged }: PartitionOptions,
  { inboxes, letters }: { readonly inboxes: Inboxes; readonly letters: Letters },
): Resident {
  return new Resident(residentBytesMax, (before, row, isGone) => {
    inboxes.invocationChanged(before, row, isGone);
    letters.invocationChanged(row, isGone);
    invocationChanged?.(before, row, isGone);
  });
}

function callbacksOf(queued: readonly QueuedEvent[]): (() => void)[] {
  return queued.flatMap(({ durable }) => durable ? [durable] : []);
}
