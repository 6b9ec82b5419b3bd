import type { Effect } from "../engine/effect.ts";
import type { Event } from "../engine/event.ts";
import type { Corrected } from "../engine/flow/slots.ts";
import type { PartitionRange } from "../model/ring.ts";
import type { Schema } from "../model/schema.ts";
import type { Unreadable } from "../model/unreadable.ts";
import type { Meter } from "../observe/meter.ts";
import type { StatusCounts } from "../observe/status_counts.ts";
import type { Watch } from "../observe/watch.ts";
import type { Clock, Lease, Log, Mailbox, OutboxBatch, Store } from "../ports.ts";
import { Partition } from "./partition.ts";
import { OutboxSender } from "./outbox_sender.ts";
import type { OnChange } from "./resident.ts";
import { statusCountsOf } from "./status_counts.ts";
import { Sweeper, type SweeperOptions } from "./sweeper.ts";
import { Timers } from "./timers.ts";

export interface HostOptions {
  readonly range: PartitionRange;
  /** Sends messages to another partition. Needed where there are several. */
  readonly sendBatch?: (to: number, batch: OutboxBatch) => Promise<number>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly schema: () => Schema;
  /** Makes the runner of attempts. A new one for each life of the partition. */
  readonly attempts: (send: Mailbox) => AttemptRunner;
  readonly turnEventsMax: number;
  /** Most effects released at once, before further input is read. */
  readonly releaseEffectsMax: number;
  /** Events waiting for a turn, above which new requests are refused with 503. */
  readonly mailboxEventsMax: number;
  readonly residentBytesMax: number;
  /** The waiting that is worth one level of priority. Absent: `PRIORITY_AGING_MS`. */
  readonly priorityAgingMs?: number;
  /** As in `SchedulerOptions`. */
  readonly queueWindow?: number;
  readonly grantsMax?: number;
  /**
   * Invocations of one subscription of Kafka that are not completed, in all partitions together. Absent:
   * no limit.
   */
  readonly subscriptionInboxMax?: number;
  readonly timersMax: number;
  /** How often expired invocations are looked for, in milliseconds. */
  readonly cleanupIntervalMs: number;
  /**
   * In a fleet: whether the lease surely holds. While it returns false, no request is taken, and no
   * effect is released before the store has confirmed the lease.
   */
  readonly isHeld?: () => boolean;
  /** In a fleet: called when another process has claimed the partition and the host has ended. */
  readonly onFenced?: () => void;
  /** Observes the changes of invocations. */
  readonly watch?: Watch | undefined;
}

/** What `outbound/attempts.ts` offers a partition. */
export interface AttemptRunner {
  start(effect: Effect & { type: "attempt" }): void;
  /**
   * Opens the request of an attempt whose commit is in flight, and holds back its end, so that no handler
   * begins before `start` is called with the same effect (decision 078). Absent: nothing is opened early.
   */
  openEarly?(effect: Effect & { type: "attempt" }): void;
  /** The attempt is started next: what `openEarly` has held back is sent. Absent: nothing is. */
  proceed?(effect: Effect & { type: "attempt" }): void;
  notify(effect: Effect & { type: "notify" }): void;
  abort(effect: Effect & { type: "abort" }): void;
  yield(effect: Effect & { type: "yield" }): void;
  /** How many attempts are in flight, and how many wait for a slot. */
  readonly load?: { readonly running: number; readonly waiting: number };
  close(): void;
}

/** One life of a partition: from a lease to the failure that ends it. */
export interface Life {
  readonly lease: Lease;
  readonly partition: Partition;
  readonly attempts: AttemptRunner;
  readonly timers: Timers;
  readonly outboxSender: OutboxSender;
  readonly sweeper: Sweeper;
  readonly bucketSweeper: Sweeper;
  readonly statusCounts: StatusCounts;
}

/** How a life calls its host. */
export interface Hooks {
  readonly meter: Meter;
  readonly release: (effects: readonly Effect[]) => void;
  readonly prepare: (effects: readonly Effect[]) => void;
  readonly onFailure: (cause: unknown) => void;
  readonly onRefused: (event: Event, cause: Unreadable) => void;
  readonly onCorrected: (corrected: Corrected) => void;
}

/** Makes the parts of one life. None of them runs by itself yet. */
export function beginLife(lease: Lease, options: HostOptions, hooks: Hooks): Life {
  const { store, watch, range: { partitions }, subscriptionInboxMax } = options;
  const statusCounts = statusCountsOf(() => life, options);
  const partition = new Partition({
    ...options,
    ...hooks,
    lease,
    onRefused: (event, cause) => {
      hooks.onRefused(event, cause);
      refused(life, event);
    },
    invocationChanged: invocationChangesTo(statusCounts, watch),
    ...(subscriptionInboxMax !== undefined &&
      { inboxLimit: Math.ceil(subscriptionInboxMax / partitions) }),
  });
  const send: Mailbox = (event, durable) => partition.send(event, durable);
  const life: Life = {
    lease,
    partition,
    statusCounts,
    attempts: options.attempts(send),
    timers: timersOf(lease, options, { send, onFailure: hooks.onFailure }),
    outboxSender: outboxSenderOf(lease, options, { partition, onFailure: hooks.onFailure }),
    sweeper: sweeperOf(options, send, async (until, limit) => {
      const found = await store.scan(lease, { kind: "expired", until, limit });
      return found.map(({ id }) => ({ type: "expired", id }));
    }),
    bucketSweeper: sweeperOf(options, send, async (until, limit) => {
      const found = await store.scan(lease, { kind: "fullBuckets", until, limit });
      return found.map(({ id }) => ({ type: "bucketFull", id }));
    }),
  };
  return life;
}

/** Who waits for an event to be durable is told that it never will be. */
function refused({ timers, sweeper, bucketSweeper }: Life, event: Event): void {
  if (event.type === "timerFired") timers.handled();
  sweeper.refused(event);
  bucketSweeper.refused(event);
}

/** Stops all parts of a life. Nothing is released after this. */
export function endLife(
  { partition, timers, outboxSender, sweeper, bucketSweeper, statusCounts, attempts }: Life,
): void {
  partition.stop();
  timers.stop();
  outboxSender.stop();
  sweeper.stop();
  bucketSweeper.stop();
  statusCounts.stop();
  attempts.close();
}

function timersOf(
  lease: Lease,
  { clock, store, timersMax }: HostOptions,
  { send, onFailure }: { readonly send: Mailbox; readonly onFailure: Hooks["onFailure"] },
): Timers {
  const handled = () => timers.handled();
  const timers = new Timers({
    clock,
    timersMax,
    load: (after, limit) =>
      store.scan(lease, { kind: "timers", limit, ...(after ? { after } : {}) }),
    fire: (timer) => send({ ...timer, type: "timerFired" }, handled),
    onFailure,
  });
  return timers;
}

function sweeperOf(
  { clock, log, cleanupIntervalMs }: HostOptions,
  send: Mailbox,
  expired: SweeperOptions["expired"],
): Sweeper {
  return new Sweeper({ clock, log, everyMs: cleanupIntervalMs, expired, send });
}

function outboxSenderOf(
  lease: Lease,
  { clock, log, store, range, sendBatch }: HostOptions,
  { partition, onFailure }: { partition: Partition; onFailure: Hooks["onFailure"] },
): OutboxSender {
  return new OutboxSender({
    from: range.partition,
    clock,
    log,
    load: (after, limit) =>
      store.scan(lease, { kind: "outbox", limit, ...(after ? { after } : {}) }),
    sendBatch: (to, batch) =>
      sendBatch ? sendBatch(to, batch) : Promise.reject(new Error("no sender to other partitions")),
    acknowledged: (to, range) => partition.send({ type: "acknowledged", to, ...range }),
    onFailure,
  });
}

function invocationChangesTo(statusCounts: StatusCounts, watch: Watch | undefined): OnChange {
  return (before, row, isGone) => {
    statusCounts.invocationChanged(before, row, isGone);
    watch?.invocationChanged(before, row);
  };
}
