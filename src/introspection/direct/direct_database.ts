import type { Bound } from "../database.ts";
import type { JournalDatabase } from "../journal/entry_rows.ts";
import type { Row } from "../render/format.ts";

/**
 * The database of the partitions itself, in the thread that works on it, for queries where there is no
 * other. LIKE minds case. Everything throws a `Failure` when it fails.
 */
export interface DirectDatabase extends JournalDatabase {
  /** Rows one by one, as they are found. Rows that are written during the read may be among them. */
  open(sql: string, args?: readonly Bound[]): Generator<Row>;
  /** Runs `act`, and undoes its writes. */
  undone<T>(act: () => T): T;
  /** Yields to the event loop, so that other work runs first. */
  pause(): Promise<void>;
}
