import type { Statement } from "../../ports.ts";
import type { Row } from "../render/format.ts";

/** A database elsewhere whose stored rows are read for a query. Its tables are those of `storage`. */
export interface QuerySource {
  /**
   * The rows of each statement; all of them see the database at one moment. Rejects with a `Failure`
   * when the database cannot be read, and when a limit of the query is reached.
   */
  read(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
}
