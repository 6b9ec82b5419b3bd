import type { Failure } from "../../errors.ts";
import { refused } from "../refusal.ts";

/** What is no SQL: 400. `at`: where, in UTF-16 units from 0. */
export function wrongAt(sql: string, at: number, what: string): Failure {
  return refused(`Cannot parse the query: ${what} at ${place(sql, at)}`);
}

/** A construct that is SQL and that we do not translate: 400. `what` names it. */
export function unsupportedAt(sql: string, at: number, what: string): Failure {
  return refused(`Cannot run the query: ${what} is not supported here (${place(sql, at)})`);
}

/** Both counted from 1. */
function place(sql: string, at: number): string {
  const before = sql.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}
