import type { PartitionClient } from "../ports.ts";

/** Finds the client of every partition. */
export interface Directory {
  /** How many partitions there are. */
  readonly partitions: number;
  /** The client of a partition, in any process. Its methods reject while no process has it. */
  partitionClient(partition: number): PartitionClient;
}
