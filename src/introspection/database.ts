import type { Row } from "./render/format.ts";

export type Bound = string | number | null | Uint8Array;

/**
 * A connection for queries: `main` is scratch space of its own, `store` the stored rows, which it
 * cannot write. LIKE minds case. Everything rejects with a `Failure` when it fails or when a limit of
 * the query is reached, at the latest soon after.
 */
export interface QueryDatabase {
  /** One statement without rows, which may take long. */
  run(sql: string, args?: readonly Bound[]): Promise<void>;
  /** One statement without rows, quick, once for each of `rows`. */
  runAll(sql: string, rows: Iterable<readonly Bound[]>): Promise<void>;
  /** A few rows, quickly. No text in them may derive from a caller's input, which need not be UTF-8. */
  rows(sql: string, args?: readonly Bound[]): Promise<readonly Row[]>;
  /** The first row, or undefined. As `rows`, and cheaper: it may be asked a million times. */
  row(sql: string, args?: readonly Bound[]): Promise<Row | undefined>;
  /** Throws the `Failure` of a limit that is reached: for loops that do not ask the database. */
  check(): void;
}
