import type { Event } from "../../src/engine/event.ts";
import type { Turn } from "../../src/engine/turn.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";

/** What the engine met in finished turns, by `<status> <event>`: see `PAIRS`. */
export const visited = new Map<string, number>();

const pending = new WeakMap<Turn, string[]>();

/** An event is about to be applied. Counts once the turn is finished. */
export function meets(turn: Turn, event: Event): void {
  const pair = `${statusOf(turn, event)} ${nameOf(turn, event)}`;
  const known = pending.get(turn);
  if (known) known.push(pair);
  else pending.set(turn, [pair]);
}

/** A turn that was not abandoned. */
export function finished(turn: Turn): void {
  for (const pair of pending.get(turn) ?? []) visited.set(pair, (visited.get(pair) ?? 0) + 1);
}

/** Looks without leaving a trace: what is not in memory must not be loaded for our sake. */
function rowOf(turn: Turn, event: Event): InvocationRow | "unread" | undefined {
  if (event.type === "invoked" && event.fresh) return undefined;
  const wants = turn.wants.length;
  try {
    return turn.find("invocation", event.id);
  } catch {
    turn.wants.length = wants;
    return "unread";
  }
}

function statusOf(turn: Turn, event: Event): string {
  const row = rowOf(turn, event);
  return row === "unread" ? row : row?.status.kind ?? "unknown";
}

function nameOf(turn: Turn, event: Event): string {
  switch (event.type) {
    case "attemptEnded":
      return `${stale(turn, event)}${event.outcome.kind}`;
    case "heard":
    case "slotFree":
      return `${stale(turn, event)}${event.type}`;
    case "timerFired":
      return `${event.kind} fired`;
    default:
      return event.type;
  }
}

function stale(turn: Turn, event: Event & { readonly attempt: number }): string {
  const row = rowOf(turn, event);
  if (row === undefined || row === "unread" || row.status.kind !== "invoked") return "";
  return row.attempt === event.attempt ? "" : "stale ";
}

/** `<status> <event>` that every thousand seeds must meet. `unknown`: there is no such invocation. */
export const PAIRS: readonly string[] = pairs({
  unknown: "invoked, expired",
  scheduled: "invoked, expired, start fired",
  inboxed: "invoked, expired, start fired",
  invoked: "invoked, heard, ended, suspended, failed, slotFree, recovered, expired, sleep fired, " +
    "retry fired, start fired, stale heard, stale ended, stale suspended, stale failed, " +
    "stale slotFree",
  backingOff:
    "invoked, heard, ended, suspended, failed, slotFree, expired, sleep fired, retry fired",
  suspended: "invoked, heard, suspended, slotFree, expired, sleep fired",
  paused: "expired, heard, failed, slotFree",
  completed:
    "invoked, heard, ended, suspended, failed, slotFree, expired, sleep fired, retry fired",
});

/** Met, but so rarely that only a long run must. */
export const RARE_PAIRS: readonly string[] = pairs({
  unknown: "heard, ended, suspended, failed, slotFree",
  backingOff: "start fired",
  suspended: "ended, failed, retry fired, start fired",
  paused: "invoked, ended, suspended, sleep fired, retry fired",
  completed: "start fired",
});

function pairs(events: Record<string, string>): string[] {
  return Object.entries(events).flatMap(([status, list]) =>
    list.split(", ").map((event) => `${status} ${event}`)
  );
}
