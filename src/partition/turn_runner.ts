import type { Event } from "../engine/event.ts";
import type { Turn } from "../engine/turn.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Want } from "../model/rows.ts";
import type { Schema } from "../model/schema.ts";
import { Unreadable } from "../model/unreadable.ts";
import type { Meter } from "../observe/meter.ts";
import type { Clock, Lease, Store } from "../ports.ts";
import type { Arrivals } from "./arrivals.ts";
import type { Scheduler } from "./flow/scheduler.ts";
import type { Inboxes } from "./inboxes.ts";
import { prefetch } from "./prefetch.ts";
import type { QueuedEvent } from "./queued_event.ts";
import type { Resident } from "./resident.ts";
import { type Refused, runEvents } from "./run_events.ts";

export interface TurnRunnerOptions {
  readonly lease: Lease;
  readonly range: PartitionRange;
  readonly clock: Clock;
  readonly store: Store;
  readonly schema: () => Schema;
  readonly meter: Meter;
  readonly resident: Resident;
  readonly arrivals: Arrivals;
  readonly scheduler: Scheduler;
  readonly inboxes: Inboxes;
  /** The number of the last commit that the store has been handed. */
  readonly lastCommit: () => number;
  readonly onRefused: (event: Event, cause: Unreadable) => void;
  /** Takes the events of an abandoned turn: their turn is to run again now. */
  readonly rerun: (events: TurnEvents) => void;
  readonly onFailure: (cause: unknown) => void;
}

/** The events of a turn, and its time: a turn that runs again keeps both. */
export interface TurnEvents {
  readonly queued: readonly QueuedEvent[];
  readonly now: number;
}

/**
 * Runs turns over the rows in memory. A turn that lacks rows is abandoned: they are loaded, and the
 * events are given back (`rerun`).
 */
export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  /** Passed from turn to turn. It begins at 0, since no stream of an earlier life is open. */
  #attemptForgotten = 0;
  #isStopped = false;
  /** Turns that were completed. */
  turns = 0;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
  }

  /** Returns a complete turn, or undefined if it is abandoned. */
  run(events: TurnEvents): Turn | undefined {
    const { resident, range, schema, arrivals, scheduler, inboxes, meter } = this.#options;
    const { queued, now } = events;
    const attemptForgotten = this.#attemptForgotten;
    const slots = scheduler, { nextSeq } = scheduler;
    const own = { resident, range, schema: schema(), attemptForgotten, inboxes };
    const context = { ...own, slots, nextSeq };
    const expected = prefetch(queued, context);
    if (expected.length > 0) return this.#load(expected, events);
    const { turn, wants, late, refused } = runEvents(queued, now, context);
    if (refused) return this.#refuse(refused, events);
    if (late.length > 0) return this.#again({ queued: arrivals.setAside(late, queued), now });
    if (wants.length > 0) {
      meter.reruns++;
      return this.#load(wants, events);
    }
    this.#attemptForgotten = turn.attemptForgotten;
    this.turns++;
    scheduler.apply(turn.slots);
    return turn;
  }

  /** Gives nothing back any more. */
  stop(): void {
    this.#isStopped = true;
  }

  #load(wants: readonly Want[], events: TurnEvents): undefined {
    const { store, lease, resident, arrivals, lastCommit, rerun } = this.#options;
    resident.expect(lastCommit());
    store.load(lease, wants).then((loaded) => {
      if (this.#isStopped) return;
      arrivals.begin(resident.add(loaded));
      rerun(events);
    }).catch((cause) => this.#unloaded(cause, events));
  }

  #unloaded(cause: unknown, events: TurnEvents): void {
    if (this.#isStopped) return;
    const { resident, rerun, onFailure } = this.#options;
    if (!(cause instanceof Unreadable)) return onFailure(cause);
    resident.expect(Infinity);
    resident.block(cause);
    rerun(events);
  }

  /**
   * Runs the turn without an event that meets a row which cannot be decoded. Ending the life of the
   * partition would not help, since the next one meets the row again.
   */
  #refuse({ one, cause }: Refused, { queued, now }: TurnEvents): undefined {
    const { onRefused, scheduler } = this.#options;
    onRefused(one.event, cause);
    if (one.event.type === "granted") scheduler.refused(one.event);
    this.#again({ queued: queued.filter((other) => other !== one), now });
  }

  /** In a task of its own, so that many reruns do not pile up on the stack. */
  #again(events: TurnEvents): undefined {
    const { clock, rerun } = this.#options;
    clock.soon(() => {
      if (!this.#isStopped) rerun(events);
    });
  }
}
