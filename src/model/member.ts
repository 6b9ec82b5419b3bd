/** A process of a fleet, as another one sees it. */
export interface Member {
  readonly id: string;
  /** The address at which other members reach it. */
  readonly address: string;
  /** Partitions that it owns. */
  readonly partitions: readonly number[];
  /** Why the process that answers cannot reach it. Absent: it can. */
  readonly unreached?: {
    readonly cause: string;
    /** Milliseconds since the epoch. */
    readonly since: number;
  };
}
