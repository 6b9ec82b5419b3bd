import { entryType } from "../../model/journal.ts";
import { type Timer, timerItem } from "../../model/rows.ts";
import type { Event } from "../event.ts";
import { notify } from "../journal/notification.ts";
import type { Turn } from "../turn.ts";
import { startOrQueue } from "./invoked.ts";
import { start } from "./started.ts";

/** Writes a timer, and emits the effect that arms it. */
export function setTimer(turn: Turn, timer: Timer): void {
  turn.put("timer", timer);
  turn.emit({ type: "armTimer", ...timer });
}

/** A timer came due. If its row is gone, the event is a duplicate. */
export function timerFired(turn: Turn, event: Event & { type: "timerFired" }): void {
  const timer = turn.find("timer", event.id, timerItem(event));
  if (!timer) return;
  // The clock was set back since: the row stays, and comes due again.
  if (turn.now < timer.due) return turn.emit({ type: "armTimer", ...timer });
  turn.drop("timer", timer);

  const row = turn.find("invocation", timer.id);
  if (!row) return;
  switch (timer.kind) {
    case "start":
      if (row.status.kind === "scheduled") startOrQueue(turn, turn.draft({ ...row }));
      return;
    case "retry":
      if (row.status.kind !== "backingOff" || row.status.until !== timer.due) return;
      return start(turn, turn.draft({ ...row }));
    case "sleep":
      return notify(turn, timer.id, {
        kind: "notification",
        type: entryType.sleepCompletion,
        id: { kind: "completion", id: timer.index },
        result: { kind: "void" },
      });
  }
}
