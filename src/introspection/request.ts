import type { Query } from "../query_port.ts";

/** A query on its way to the process that answers it. */
export interface QueryRequest extends Omit<Query, "warn"> {
  /** Milliseconds since the epoch: what `now()` is. */
  readonly now: number;
}

/** The most that one query may take. What is more fails with a `Failure` 500 that says so. */
export interface QueryLimits {
  /** Rows of an answer. */
  readonly rowsMax: number;
  /** From its beginning to its last row. */
  readonly timeMs: number;
  /** By how much the process may grow during the query. */
  readonly memoryBytesMax: number;
  /** Its answer, and what it copies, on disk; where there is none, in memory. */
  readonly spoolBytesMax: number;
}

/** A part of an answer is about so large: what is in memory of it. */
export const PAGE_BYTES = 256 * 1024;
