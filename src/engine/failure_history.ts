import type { InvocationDraft } from "../model/invocation.ts";
import type { Rows } from "../model/rows.ts";
import type { Turn } from "./turn.ts";

/** Most events kept of an invocation, so that one that fails for ever does not fill the disk. */
export const EVENTS_MAX = 100;

/** Adds a failure or pause to the history of an invocation, and drops the oldest beyond `EVENTS_MAX`. */
export function recordEvent(
  turn: Turn,
  draft: InvocationDraft,
  { kind, failure }: Pick<Rows["event"], "kind" | "failure">,
): void {
  const { id, journal: after, events: seq = 0, failed } = draft;
  const row = { id, seq, at: turn.now, after, kind, ...(failed !== undefined && { failed }) };
  turn.put("event", failure ? { ...row, failure } : row);
  if (seq >= EVENTS_MAX) turn.drop("event", { ...row, seq: seq - EVENTS_MAX });
  draft.events = seq + 1;
}

/** Drops every event of an invocation, without reading any. */
export function forgetEvents(turn: Turn, draft: InvocationDraft): void {
  const { id, events } = draft;
  if (events === undefined) return;
  for (let seq = Math.max(0, events - EVENTS_MAX); seq < events; seq++) {
    turn.drop("event", { id, seq, at: 0, after: 0, kind: "paused" });
  }
  draft.events = undefined;
}
