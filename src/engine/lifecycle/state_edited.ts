import type { Rows } from "../../model/rows.ts";
import { parseStateEdit, printStateEdit, stateVersion } from "../../model/state_edit.ts";
import type { StateEdit } from "../../model/state_edit.ts";
import { objectOf } from "../../model/target.ts";
import type { StateEdited } from "../event.ts";
import type { Turn } from "../turn.ts";

/**
 * Replaces the state of an object for an operator. While the object is locked, the edit waits in its
 * inbox like an invocation (docs/spec/service-protocol.md#service-types).
 */
export function stateEdited(
  turn: Turn,
  { object: { service, key, scope }, edit, reply }: StateEdited,
): void {
  const object = objectOf(service, key, scope);
  const lock = turn.find("lock", object);
  if (!lock) replaceState(turn, object, edit);
  else {
    turn.put("inbox", { object, seq: lock.tail, id: "", edit: printStateEdit(edit) });
    turn.put("lock", { ...lock, tail: lock.tail + 1 });
  }
  turn.emit({ type: "reply", reply, id: object, status: lock ? "underway" : "done" });
}

/** Applies an edit, now that the lock is free. */
export function applyEdit(turn: Turn, row: Rows["inbox"] & { readonly edit: string }): void {
  turn.drop("inbox", row);
  replaceState(turn, row.object, parseStateEdit(row.edit));
}

function replaceState(turn: Turn, object: string, { pairs, version }: StateEdit): void {
  const rows = turn.list("state", object);
  // The state has changed meanwhile: the edit was meant for another version.
  if (version !== undefined && version !== stateVersion(rows)) return;
  for (const row of rows) turn.drop("state", row);
  for (const { name, value } of pairs) turn.put("state", { object, name, value });
}
