import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Disks } from "./disks.ts";
import type { History } from "./history.ts";
import type { Seat } from "./seat.ts";

/** What attempts in flight must have been told of a commit, by the time of the next. */
export function newsOf(
  seat: Seat,
  writes: readonly Write[],
  { history, disks }: { readonly history: History; readonly disks: Disks },
): (() => void)[] {
  return writes.flatMap(({ table, row, drop }) => {
    // What a later turn of the same commit has changed is not what was to be told.
    if (table === "invocation") {
      return orders(seat, history.story((row as Rows["invocation"]).id).row);
    }
    if (table !== "journal" || drop) return [];
    const { id, index, entry } = row as Rows["journal"];
    const { status, attempt } = history.story(id).row;
    if (entry.kind !== "notification" || status.kind !== "invoked") return [];
    // Of a life that this commit has ended and begun anew.
    if (disks.find("journal", id, index)?.entry !== entry) return [];
    return [() => seat.mustHaveTold(id, attempt, index)];
  });
}

/** What the runner of an attempt must have been told to do. */
function orders(seat: Seat, { id, attempt, status, pausing }: InvocationRow): (() => void)[] {
  if (pausing) return [() => seat.mustHaveYielded(id, attempt)];
  const isKilled = status.kind === "completed" && status.failure?.message === "killed";
  return isKilled ? [() => seat.mustBeOver(id, attempt)] : [];
}
