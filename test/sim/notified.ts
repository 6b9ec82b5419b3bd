import type { InvocationRow } from "../../src/model/invocation.ts";
import type { Rows, Write } from "../../src/model/rows.ts";
import type { Disks } from "./disks.ts";
import type { History } from "./history.ts";
import type { PartitionOwner } from "./partition_owner.ts";

/** Checks that attempts in flight have been notified of a commit, by the time of the next. */
export function notificationChecks(
  owner: PartitionOwner,
  writes: readonly Write[],
  { history, disks }: { readonly history: History; readonly disks: Disks },
): (() => void)[] {
  return writes.flatMap(({ table, row, drop }) => {
    // A later turn of the same commit may have changed the row: the last value counts.
    if (table === "invocation") {
      return orders(owner, history.record((row as Rows["invocation"]).id).row);
    }
    if (table !== "journal" || drop) return [];
    const { id, index, entry } = row as Rows["journal"];
    const { status, attempt } = history.record(id).row;
    if (entry.kind !== "notification" || status.kind !== "invoked") return [];
    // Of a life that this commit has ended and begun anew.
    if (disks.find("journal", id, index)?.entry !== entry) return [];
    return [() => owner.mustHaveNotified(id, attempt, index)];
  });
}

/** What the runner of an attempt must have been asked to do. */
function orders(
  owner: PartitionOwner,
  { id, attempt, status, pausing }: InvocationRow,
): (() => void)[] {
  if (pausing) return [() => owner.mustHaveYielded(id, attempt)];
  const isKilled = status.kind === "completed" && status.failure?.message === "killed";
  return isKilled ? [() => owner.mustBeOver(id, attempt)] : [];
}
