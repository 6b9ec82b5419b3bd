import { PLAN_COLUMNS } from "./plan_text.ts";
import { refused } from "./refusal.ts";
import type { QueryRequest } from "./request.ts";
import { readStatement } from "./syntax/read_statement.ts";
import { prepare, type Prepared } from "./translate/statement.ts";

/** A statement as it is asked of SQLite. */
export interface Asked extends Prepared {
  /** It asks for SQLite's plan, which SQLite gives to a direct request only. */
  readonly isPlan: boolean;
}

/**
 * Reads and translates the statement of a request. `isCopied`: its rows are in copies. Throws a
 * `Failure` for what cannot be asked.
 */
export function readRequest({ sql, now, version }: QueryRequest, isCopied = false): Asked {
  try {
    const statement = readStatement(sql);
    const prepared = prepare(statement, { now, version, isCopied });
    return statement.kind === "explain"
      ? { ...prepared, columns: PLAN_COLUMNS, isPlan: true }
      : { ...prepared, isPlan: false };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    // The stack is what ran out.
    throw refused("Cannot run the query: it is nested too deep", { cause });
  }
}
