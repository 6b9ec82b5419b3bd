import { StatusCounts } from "../observe/status_counts.ts";
import type { PartitionGauges } from "../observe/metrics.ts";
import type { Clock, Lease, Log, Store } from "../ports.ts";
import type { AttemptRunner } from "./life.ts";
import type { Partition } from "./partition.ts";
import type { Timers } from "./timers.ts";

/** The parts of a life that metrics read. */
export interface ObservedLife {
  readonly lease: Lease;
  readonly partition: Partition;
  readonly timers: Timers;
  readonly attempts: AttemptRunner;
}

/** Counts the invocations of a life at the first request. `seen` is called no earlier. */
export function statusCountsOf(
  seen: () => ObservedLife,
  { clock, store, log }: { readonly clock: Clock; readonly store: Store; readonly log: Log },
): StatusCounts {
  return new StatusCounts({
    clock,
    failed: (cause) => log("warn", "Counting invocations failed", { cause: String(cause) }),
    statusCounts: (page, issued) =>
      new Promise((resolve, reject) => {
        const { partition, lease } = seen();
        // The page would lack the writes of turns that the store has not been handed yet.
        partition.whenHandedOver(() => {
          issued();
          store.scanStatuses?.(lease, page).then(resolve, reject);
        });
      }),
  });
}

/** The values of a life at this moment. */
export function gaugesOf(
  { lease, partition, timers, attempts }: ObservedLife,
  store: Store,
): PartitionGauges {
  const { running, waiting } = attempts.load ?? { running: 0, waiting: 0 };
  const { rows, bytes } = store.backlog?.(lease) ?? { rows: 0, bytes: 0 };
  return {
    mailboxEvents: partition.waiting,
    residentBytes: partition.residentBytes,
    timers: timers.size,
    running,
    queued: waiting,
    logRows: rows,
    logBytes: bytes,
  };
}
