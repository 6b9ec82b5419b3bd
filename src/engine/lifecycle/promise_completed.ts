import { objectOf } from "../../model/target.ts";
import type { ReplyStatus } from "../effect.ts";
import type { PromiseCompleted } from "../event.ts";
import { completePromise } from "../journal/promise.ts";
import type { Turn } from "../turn.ts";
import { unexpired } from "./unexpired.ts";

/**
 * Completes a promise for an operator, as a handler of its workflow would, with a reply once that is
 * durable. The status is `completed` if it has a result already, and `unknown` if neither a run of the
 * workflow nor the promise is known: nothing would ever delete it then (decision 080).
 */
export function promiseCompleted(turn: Turn, event: PromiseCompleted): void {
  const { promise: { run: id }, reply } = event;
  turn.emit({ type: "reply", reply, id, status: complete(turn, event) });
}

function complete(turn: Turn, { promise, result }: PromiseCompleted): ReplyStatus {
  const { object: { service, key, scope }, name, run } = promise;
  const object = objectOf(service, key, scope);
  const known = turn.find("promise", object, name);
  if (known?.result) return "completed";
  if (!known && !unexpired(turn, run)) return "unknown";
  completePromise(turn, { object, name, result });
  return "done";
}
