/** A process of a fleet, as another one sees it. */
export interface Member {
  readonly id: string;
  /** Where the others reach it. */
  readonly address: string;
  /** Partitions that it owns. */
  readonly partitions: readonly number[];
  /** Why it cannot be reached from the process that is asked. Absent: it can. */
  readonly unreached?: {
    readonly cause: string;
    /** Milliseconds since the epoch. */
    readonly since: number;
  };
}
