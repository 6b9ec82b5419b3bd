import { hasRate } from "../../engine/flow/admission.ts";
import type { Counter } from "../../engine/flow/counters.ts";
import { countersOfQueue, parseQueueName } from "../../engine/flow/queue.ts";
import type { Queued } from "../../engine/flow/slots.ts";
import type { Controls } from "../../model/limits.ts";
import type { Rows } from "../../model/rows.ts";
import type { Lease, Store } from "../../ports.ts";
import type { DamagedHolder, Holder } from "../../scan.ts";
import type { Partition } from "../partition.ts";
import type { Scheduler } from "./scheduler.ts";

/** Invocations read at once. */
const PAGE = 1_000;

/** The place of the partition in its store, and what operators have set. */
export interface RecoverFrom {
  readonly store: Store;
  readonly lease: Lease;
  readonly controls: Controls;
  /** Told of each row that an index has among those that hold slots, and whose content does not. */
  readonly onDamaged: (holder: DamagedHolder) => void;
}

/**
 * At boot: tells the scheduler who holds slots, who waits for them, and the token buckets that those
 * wait for. Resolves with the ids of those whose attempt died with the last process. Rejects as the
 * store does. What is counted is compared with the content of each row that holds slots.
 */
export async function recover(
  { scheduler }: Pick<Partition, "scheduler">,
  from: RecoverFrom,
): Promise<string[]> {
  const lost = await recoverHolders(scheduler, from);
  const queues = await recoverQueues(scheduler, from);
  await recoverBuckets(scheduler, { ...from, queues });
  return lost;
}

async function recoverHolders(
  scheduler: Scheduler,
  { store, lease, onDamaged }: RecoverFrom,
): Promise<string[]> {
  const lost: string[] = [];
  let last: Holder | DamagedHolder | undefined;
  for (;;) {
    const after = last && { after: last.id };
    const page = await store.scan(lease, { kind: "holders", limit: PAGE, ...after });
    for (const holder of page) {
      // No turn can read its row, so its slots would never be given back (decision 069).
      if ("damage" in holder) {
        onDamaged(holder);
        continue;
      }
      scheduler.hold(holder);
      if (holder.status.kind === "invoked") lost.push(holder.id);
    }
    last = page.at(-1);
    if (page.length < PAGE) return lost;
  }
}

/** Resolves with the names of the queues. */
async function recoverQueues(
  scheduler: Scheduler,
  { store, lease }: RecoverFrom,
): Promise<ReadonlySet<string>> {
  const queues = new Set<string>();
  let last: Queued | undefined;
  for (;;) {
    const after = last && { after: last };
    const page = await store.scan(lease, { kind: "queued", limit: PAGE, ...after });
    for (const one of page) {
      scheduler.restore(one);
      queues.add(one.queue);
    }
    last = page.at(-1);
    if (page.length < PAGE) return queues;
  }
}

/** Otherwise the head of each queue would get a grant, only to find that there is no token. */
async function recoverBuckets(
  scheduler: Scheduler,
  { store, lease, controls, queues }: RecoverFrom & { readonly queues: ReadonlySet<string> },
): Promise<void> {
  const rated = new Set<Counter>();
  for (const name of queues) {
    for (const counter of countersOfQueue(parseQueueName(name))) {
      if (hasRate(counter, controls)) rated.add(counter);
    }
  }
  const wants = [...rated].map((group) => ({ table: "bucket", group, item: "" }) as const);
  for (let at = 0; at < wants.length; at += PAGE) {
    const loaded = await store.load(lease, wants.slice(at, at + PAGE));
    for (const row of loaded.flatMap(({ rows }) => rows as readonly Rows["bucket"][])) {
      scheduler.setBucket(row.counter, row);
    }
  }
}
