import type { SqlClient } from "../../ports.ts";
import type { RetryLimits } from "../retry.ts";

/** The databases of an installation whose rows are moved. */
export interface Installation {
  readonly partitions: number;
  /** Each database once. The first one has the rows of the installation as a whole. */
  readonly clients: readonly SqlClient[];
  /** The database of a partition. */
  of(partition: number): SqlClient;
  readonly retry: RetryLimits;
}

/** Called when more work is done. */
export type Progress = (done: Done) => void;

/** Work since the last call. */
export interface Done {
  /** What is being worked on, such as a table. */
  readonly what?: string;
  readonly rows?: number;
  readonly bytes?: number;
}
