import { unreachable } from "../assert.ts";
import type { Event } from "./event.ts";
import { heard } from "./journal/heard.ts";
import { attemptEnded } from "./lifecycle/attempt_ended.ts";
import { expired } from "./lifecycle/expired.ts";
import { invoked } from "./lifecycle/invoked.ts";
import { recovered, slotFree } from "./lifecycle/started.ts";
import { timerFired } from "./lifecycle/timer_fired.ts";
import type { Turn } from "./turn.ts";

/** Applies one event. The whole server, minus the world. */
export function step(turn: Turn, event: Event): void {
  turn.nextEvent();
  switch (event.type) {
    case "invoked":
      return invoked(turn, event);
    case "heard":
      return heard(turn, event);
    case "attemptEnded":
      return attemptEnded(turn, event);
    case "timerFired":
      return timerFired(turn, event);
    case "slotFree":
      return slotFree(turn, event);
    case "recovered":
      return recovered(turn, event);
    case "expired":
      return expired(turn, event);
    default:
      unreachable(event);
  }
}
