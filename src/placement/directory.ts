import type { PartitionClient } from "../ports.ts";

/** Knows where every partition is. */
export interface Directory {
  /** How many partitions there are. */
  readonly partitions: number;
  /** The way to a partition, wherever it is at the moment. Its methods reject while nobody has it. */
  partitionClient(partition: number): PartitionClient;
}
