import type { Bound } from "../database.ts";
import type { JournalDatabase } from "../journal/entry_rows.ts";
import type { Row } from "../render/format.ts";

/**
 * The database of the partitions itself, in the thread that works on it, for queries where there is no
 * other. LIKE minds case. Everything throws a `Failure` when it fails.
 */
export interface DirectDatabase extends JournalDatabase {
  /** Rows one by one, as they are found. What is written meanwhile may be among them. */
  open(sql: string, args?: readonly Bound[]): Generator<Row>;
  /** Does `act`, and undoes what it wrote. */
  undone<T>(act: () => T): T;
  /** Lets whatever else there is to do be done first. */
  pause(): Promise<void>;
}
