import { StatusCounts } from "../observe/status_counts.ts";
import type { PartitionGauges } from "../observe/metrics.ts";
import type { Clock, Lease, Log, Store } from "../ports.ts";
import type { AttemptRunner } from "./life.ts";
import type { Partition } from "./partition.ts";
import type { Timers } from "./timers.ts";

/** One life of a partition, as far as metrics look at it. */
export interface ObservedLife {
  readonly lease: Lease;
  readonly partition: Partition;
  readonly timers: Timers;
  readonly attempts: AttemptRunner;
}

/** Counts the invocations of a life, once somebody asks. `seen` is called no earlier. */
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
        // What is in a turn and not in the store's hands yet, its page would not show.
        partition.whenHandedOver(() => {
          issued();
          store.scanStatuses?.(lease, page).then(resolve, reject);
        });
      }),
  });
}

/** What can be read of a life at this moment. */
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
