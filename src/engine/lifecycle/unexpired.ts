import type { InvocationRow } from "../../model/invocation.ts";
import { isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";

/** An invocation, unless it has been kept for as long as it should be: then it does not exist. */
export function unexpired(turn: Turn, id: string): InvocationRow | undefined {
  const row = turn.find("invocation", id);
  return row && !isExpired(turn, row) ? row : undefined;
}
