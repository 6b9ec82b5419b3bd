import { unreachable } from "../assert.ts";
import type { Asked, Signaled } from "../model/message.ts";
import type { Event, LetterAsked, Operated, PromiseCompleted, StateEdited } from "./event.ts";
import { ingested } from "./ingested.ts";
import { acknowledged, delivered } from "./outbox.ts";
import { framesReceived } from "./journal/frames_received.ts";
import { counted, granted } from "./flow/granted.ts";
import { asked } from "./lifecycle/asked.ts";
import { attemptEnded } from "./lifecycle/attempt_ended.ts";
import { expired } from "./lifecycle/expired.ts";
import { letterAsked } from "./lifecycle/dead_letter.ts";
import { invoked } from "./lifecycle/invoked.ts";
import { operated } from "./lifecycle/operated.ts";
import { promiseCompleted } from "./lifecycle/promise_completed.ts";
import { signaled } from "./lifecycle/signaled.ts";
import { recovered, slotFree } from "./lifecycle/started.ts";
import { stateEdited } from "./lifecycle/state_edited.ts";
import { timerFired } from "./lifecycle/timers.ts";
import type { Turn } from "./turn.ts";

/** Applies one event to a turn. Throws `miss` if a row that it needs is not in memory. */
export function step(turn: Turn, event: Event): void {
  turn.nextEvent();
  switch (event.type) {
    case "invoked":
      return invoked(turn, event);
    case "framesReceived":
      return framesReceived(turn, event);
    case "attemptEnded":
      return attemptEnded(turn, event);
    case "timerFired":
      return timerFired(turn, event);
    case "slotFree":
      return slotFree(turn, event);
    case "granted":
      return granted(turn, event);
    case "bucketFull":
    case "shortOfSlots":
    case "slotsIdle":
    case "sharesDue":
      return counted(turn, event);
    case "recovered":
      return recovered(turn, event);
    case "expired":
      return expired(turn, event);
    case "delivered":
      return delivered(turn, event);
    case "ingested":
      return ingested(turn, event);
    case "acknowledged":
      return acknowledged(turn, event);
    default:
      return requested(turn, event);
  }
}

type Requested = Asked | Signaled | StateEdited | PromiseCompleted | Operated | LetterAsked;

function requested(turn: Turn, event: Requested): void {
  switch (event.type) {
    case "asked":
      return asked(turn, event);
    case "signaled":
      return signaled(turn, event);
    case "stateEdited":
      return stateEdited(turn, event);
    case "promiseCompleted":
      return promiseCompleted(turn, event);
    case "operated":
      return operated(turn, event);
    case "letterAsked":
      return letterAsked(turn, event);
    default:
      unreachable(event);
  }
}
