import type { Sabotage } from "./sabotage.ts";
import { SABOTAGES_BETWEEN } from "./sabotages_between.ts";
import { SABOTAGES_FLOW } from "./sabotages_flow.ts";
import { SABOTAGES_KAFKA } from "./sabotages_kafka.ts";
import { SABOTAGES_JOURNAL } from "./sabotages_journal.ts";
import { SABOTAGES_LIFECYCLE } from "./sabotages_lifecycle.ts";
import { SABOTAGES_MESSAGES } from "./sabotages_messages.ts";
import { SABOTAGES_OPERATIONS } from "./sabotages_operations.ts";
import { SABOTAGES_ORDER, SABOTAGES_SHARES } from "./sabotages_order.ts";
import { SABOTAGES_PARTITION } from "./sabotages_partition.ts";
import { SABOTAGES_PLACEMENT } from "./sabotages_placement.ts";
import { SABOTAGES_THREADS } from "./sabotages_threads.ts";

/** Most need no second partition to be seen, and are seen sooner without. */
const under = (circumstances: Sabotage["under"], sabotages: readonly Sabotage[]) =>
  sabotages.map((one) => ({ ...one, under: { ...circumstances, ...one.under } }));

/** Most queues need no others to be seen, and nothing needs threads, and so the seeds of `SEEDS_FILE` stay what they were. */
const APART = { together: 0, threads: 0 };
/** What has no topics needs none to be seen. */
const UNFED = { ...APART, isFed: false };

/** All that `sabotage.test.ts` tries, with the circumstances in which each is seen. */
export const SABOTAGES: readonly Sabotage[] = [
  ...under({
    partitions: 1,
    processes: 1,
    isFleet: false,
    moves: 0,
    freezes: 0,
    outboxBatchLost: 0,
    ...UNFED,
  }, [
    ...SABOTAGES_LIFECYCLE,
    ...SABOTAGES_OPERATIONS,
    ...SABOTAGES_JOURNAL,
    ...SABOTAGES_MESSAGES,
    ...SABOTAGES_PARTITION,
  ]),
  ...under({
    partitions: 1,
    processes: 1,
    isFleet: false,
    isControlled: true,
    ...UNFED,
  }, [...SABOTAGES_FLOW, ...SABOTAGES_ORDER]),
  ...under({ ...UNFED, isControlled: true, partitions: 3, alike: 0 }, SABOTAGES_SHARES),
  ...under({ ...UNFED, partitions: 3 }, SABOTAGES_BETWEEN),
  ...under({ ...UNFED, partitions: 3, processes: 3, isFleet: true }, SABOTAGES_PLACEMENT),
  ...under({ ...UNFED, partitions: 3, threads: 2 }, SABOTAGES_THREADS),
  ...under({ ...APART, isFed: true, partitions: 2 }, SABOTAGES_KAFKA),
];
