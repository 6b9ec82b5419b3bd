import type { Invoked } from "./event.ts";
import { invoked } from "./lifecycle/invoked.ts";
import type { Turn } from "./turn.ts";

/**
 * The one door through which invocations speak to each other. With a single partition everybody
 * is here, and a message is applied in the same turn; with several, this is where a message for
 * another one becomes an outbox row.
 */
export function deliver(turn: Turn, message: Invoked): void {
  invoked(turn, message);
}
