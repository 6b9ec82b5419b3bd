import type { InvocationRow } from "../../model/invocation.ts";
import { isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";

/** An invocation, unless its retention is over: then it counts as not existing. */
export function unexpired(turn: Turn, id: string): InvocationRow | undefined {
  const row = turn.find("invocation", id);
  return row && !isExpired(turn, row) ? row : undefined;
}
