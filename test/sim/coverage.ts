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
  const id = aboutOf(event), wants = turn.wants.length;
  if (id === undefined) return undefined;
  try {
    return turn.find("invocation", id);
  } catch {
    turn.wants.length = wants;
    return "unread";
  }
}

/** The invocation that an event is about. */
export function aboutOf(event: Event): string | undefined {
  if (event.type === "signaled") return event.signal.target;
  return "id" in event ? event.id : undefined;
}

function statusOf(turn: Turn, event: Event): string {
  const row = rowOf(turn, event);
  if (row === "unread") return row;
  return row?.pausing ? "pausing" : row?.status.kind ?? "unknown";
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
    case "operated":
      return event.operation.kind;
    case "asked":
      return event.wait ? "attach" : "output";
    default:
      return event.type;
  }
}

function stale(turn: Turn, event: Event & { readonly attempt: number }): string {
  const row = rowOf(turn, event);
  if (row === undefined || row === "unread" || row.status.kind !== "invoked") return "";
  return row.attempt === event.attempt ? "" : "stale ";
}

/**
 * `<status> <event>` that every thousand seeds must meet. `unknown`: there is no such invocation;
 * `pausing`: it is invoked, and told to come to rest.
 */
export const PAIRS: readonly string[] = pairs({
  unknown: "attach, cancel, expired, heard, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, signaled, slotFree, start fired",
  scheduled: "attach, cancel, expired, invoked, kill, output, pause, purge, purgeJournal, " +
    "restart, resume, signaled, start fired",
  inboxed: "attach, cancel, expired, invoked, kill, output, pause, purgeJournal, restart, " +
    "resume, signaled",
  invoked: "attach, cancel, ended, expired, failed, heard, invoked, kill, output, pause, " +
    "purge, purgeJournal, recovered, restart, resume, retry fired, signaled, sleep " +
    "fired, slotFree, stale ended, stale failed, stale heard, stale slotFree, stale " +
    "suspended, start fired, suspended",
  pausing: "attach, cancel, ended, expired, failed, heard, invoked, kill, output, pause, " +
    "purge, purgeJournal, recovered, restart, resume, signaled, slotFree, suspended",
  backingOff: "attach, cancel, ended, expired, failed, heard, invoked, kill, output, pause, " +
    "purge, purgeJournal, restart, resume, retry fired, signaled, sleep fired, " +
    "slotFree, suspended",
  suspended: "attach, cancel, expired, heard, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, signaled, sleep fired, slotFree, suspended",
  paused: "attach, cancel, expired, failed, heard, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, retry fired, signaled, sleep fired, slotFree, " +
    "suspended",
  completed: "attach, cancel, ended, expired, failed, heard, invoked, kill, output, pause, " +
    "purge, purgeJournal, restart, resume, retry fired, signaled, sleep fired, " +
    "slotFree, suspended",
});

/** Met, but so rarely that only a long run must. */
export const RARE_PAIRS: readonly string[] = pairs({
  unknown: "ended, failed, retry fired, sleep fired, suspended",
  inboxed: "purge, start fired",
  pausing: "retry fired, sleep fired, stale heard, stale slotFree, stale suspended, start " +
    "fired",
  suspended: "failed, retry fired, start fired",
  paused: "ended",
  completed: "start fired",
});

function pairs(events: Record<string, string>): string[] {
  return Object.entries(events).flatMap(([status, list]) =>
    list.split(", ").map((event) => `${status} ${event}`)
  );
}
