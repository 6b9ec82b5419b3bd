import type { SqlClient } from "../../ports.ts";
import type { Patience } from "../retry.ts";

/** The databases of an installation, as those see them who move rows. */
export interface Installation {
  readonly partitions: number;
  /** Each once. The first one has what belongs to the installation as a whole. */
  readonly clients: readonly SqlClient[];
  /** The one a partition is in. */
  of(partition: number): SqlClient;
  readonly patience: Patience;
}

/** Hears how far it is: so many rows of this table so far. */
export type Progress = (what: string, rows: number) => void;
