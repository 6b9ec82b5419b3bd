import type { Event } from "../../src/engine/event.ts";
import type { Turn } from "../../src/engine/turn.ts";
import type { InvocationRow } from "../../src/model/invocation.ts";
import { addressee, isShareMessage } from "../../src/model/message.ts";

/** What the engine met in finished turns, by `<status> <event>`: see `PAIRS`. */
export const visited = new Map<string, number>();

const pending = new WeakMap<Turn, string[]>();

/** An event is about to be applied. Counts once the turn is finished. */
export function meets(turn: Turn, event: Event): void {
  const pairs = [`${statusOf(turn, event)} ${nameOf(turn, event)}`];
  if (event.type === "delivered") {
    for (const message of event.messages) {
      if (!isShareMessage(message)) {
        pairs.push(`${shown(rowAt(turn, addressee(message)))} far ${message.type}`);
      }
    }
  }
  const known = pending.get(turn);
  if (known) known.push(...pairs);
  else pending.set(turn, pairs);
}

/** A turn that was not abandoned. */
export function finished(turn: Turn): void {
  for (const pair of pending.get(turn) ?? []) visited.set(pair, (visited.get(pair) ?? 0) + 1);
}

/** Looks without leaving a trace: what is not in memory must not be loaded for our sake. */
function rowOf(turn: Turn, event: Event): InvocationRow | "unread" | undefined {
  if (event.type === "invoked" && event.fresh) return undefined;
  const id = aboutOf(event);
  return id === undefined ? undefined : rowAt(turn, id);
}

function rowAt(turn: Turn, id: string): InvocationRow | "unread" | undefined {
  const wants = turn.wants.length;
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
  // Its id is that of a counter.
  if (event.type === "bucketFull") return undefined;
  return "id" in event ? event.id : undefined;
}

function statusOf(turn: Turn, event: Event): string {
  return shown(rowOf(turn, event));
}

function shown(row: InvocationRow | "unread" | undefined): string {
  if (row === "unread") return row;
  return row?.pausing ? "pausing" : row?.status.kind ?? "unknown";
}

function nameOf(turn: Turn, event: Event): string {
  switch (event.type) {
    case "attemptEnded":
      return `${stale(turn, event)}${event.outcome.kind}`;
    case "framesReceived":
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
 * `pausing`: it is invoked, and told to suspend; `far`: another partition says so.
 */
export const PAIRS: readonly string[] = pairs({
  unknown: "acknowledged, bucketFull, delivered, far answered, far asked, far invoked, far " +
    "killed, far signaled, attach, cancel, expired, granted, framesReceived, ingested, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, signaled, slotFree, start fired",
  scheduled: "attach, cancel, expired, invoked, kill, output, pause, purge, purgeJournal, " +
    "restart, resume, signaled, start fired",
  inboxed: "attach, cancel, expired, invoked, kill, output, pause, purgeJournal, restart, " +
    "resume, signaled",
  queued:
    "attach, cancel, expired, granted, invoked, kill, output, pause, purgeJournal, restart, " +
    "resume, signaled",
  invoked:
    "attach, cancel, ended, expired, failed, framesReceived, invoked, kill, output, pause, " +
    "purge, purgeJournal, recovered, restart, resume, retry fired, signaled, sleep " +
    "fired, slotFree, stale ended, stale failed, stale framesReceived, stale slotFree, stale " +
    "suspended, start fired, suspended, far answered, far asked, far invoked, far killed, far " +
    "signaled",
  pausing:
    "attach, cancel, ended, expired, failed, framesReceived, invoked, kill, output, pause, " +
    "purge, purgeJournal, recovered, restart, resume, signaled, slotFree, suspended",
  backingOff:
    "attach, cancel, ended, expired, failed, framesReceived, invoked, kill, output, pause, " +
    "purge, purgeJournal, restart, resume, retry fired, signaled, sleep fired, " +
    "slotFree, suspended",
  suspended: "attach, cancel, expired, framesReceived, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, signaled, sleep fired, slotFree, suspended, far answered, " +
    "far asked, far invoked, far signaled",
  paused: "attach, cancel, expired, failed, framesReceived, invoked, kill, output, pause, purge, " +
    "purgeJournal, restart, resume, retry fired, signaled, sleep fired, slotFree, " +
    "suspended",
  completed:
    "attach, cancel, ended, expired, failed, framesReceived, invoked, kill, output, pause, " +
    "purge, purgeJournal, restart, resume, retry fired, signaled, sleep fired, " +
    "slotFree, suspended, far answered, far asked, far invoked, far killed, far signaled",
});

/** Met, but so rarely that only a long run must. */
export const RARE_PAIRS: readonly string[] = pairs({
  unknown: "ended, failed, retry fired, sleep fired, suspended",
  scheduled: "far asked, far invoked, far killed, far signaled",
  queued: "purge, framesReceived, slotFree, sleep fired, start fired, suspended, far answered, " +
    "far invoked, far killed, far signaled",
  inboxed: "purge, start fired, far asked, far invoked, far killed, far signaled",
  pausing:
    "retry fired, sleep fired, stale framesReceived, stale slotFree, stale suspended, start " +
    "fired, far answered, far asked, far invoked, far killed, far signaled",
  backingOff: "far answered, far asked, far invoked, far killed, far signaled",
  suspended: "failed, retry fired, start fired, far killed",
  paused: "ended, granted, far answered, far invoked, far killed, far signaled",
  completed: "granted, start fired",
});

function pairs(events: Record<string, string>): string[] {
  return Object.entries(events).flatMap(([status, list]) =>
    list.split(", ").map((event) => `${status} ${event}`)
  );
}
