import { unreachable } from "../../assert.ts";
import type { Reply } from "../effect.ts";
import type { Operated } from "../event.ts";
import type { Turn } from "../turn.ts";
import { canceled } from "./canceled.ts";
import { killed } from "./killed.ts";
import { paused } from "./paused.ts";
import { purged } from "./purged.ts";
import { restarted } from "./restarted.ts";
import { resumed } from "./resumed.ts";

/**
 * Carries out or refuses an operation of an operator, with a reply once that is durable
 * (docs/spec/admin.md#operations-on-invocations).
 */
export function operated(turn: Turn, event: Operated): void {
  const { id, reply } = event;
  const taken = operate(turn, event);
  const row = taken.status === "otherProtocol" ? turn.find("invocation", id) : undefined;
  const bound = row?.pin ? { target: row.target, pin: row.pin } : {};
  turn.emit({ type: "reply", reply, id, ...taken, ...bound });
}

function operate(turn: Turn, { id, operation }: Operated): Pick<Reply, "status"> & { id?: string } {
  switch (operation.kind) {
    case "cancel":
      return { status: canceled(turn, id) };
    case "kill":
      return { status: killed(turn, id) };
    case "pause":
      return { status: paused(turn, id) };
    case "resume":
      return { status: resumed(turn, id, operation.deployment) };
    case "purge":
    case "purgeJournal":
      return { status: purged(turn, id, operation.kind) };
    case "restart": {
      const status = restarted(turn, id, operation);
      return status === "done" ? { status, id: operation.newId } : { status };
    }
    default:
      return unreachable(operation);
  }
}
