import type { SqlClient } from "../../ports.ts";
import type { RetryLimits } from "../retry.ts";

/** The databases of an installation, as those see them who move rows. */
export interface Installation {
  readonly partitions: number;
  /** Each once. The first one has what belongs to the installation as a whole. */
  readonly clients: readonly SqlClient[];
  /** The one a partition is in. */
  of(partition: number): SqlClient;
  readonly retry: RetryLimits;
}

/** Is called when more work is done. */
export type Progress = (done: Done) => void;

/** Work since the last call. */
export interface Done {
  /** What is being worked on, such as a table. */
  readonly what?: string;
  readonly rows?: number;
  readonly bytes?: number;
}
