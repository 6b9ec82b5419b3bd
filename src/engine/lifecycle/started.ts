import { assert } from "../../assert.ts";
import type { InvocationDraft, InvocationRow } from "../../model/invocation.ts";
import { handlerIn, type HandlerSchema, type ServiceSchema } from "../../model/schema.ts";
import { objectOf } from "../../model/target.ts";
import type { Attempt, StatePair } from "../effect.ts";
import type { Event } from "../event.ts";
import { enqueue, takeTokens, whyNot } from "../flow/admit.ts";
import { setStatus } from "../flow/status.ts";
import type { Turn } from "../turn.ts";
import { pauseNow } from "./paused.ts";

const INVOKED = { kind: "invoked" } as const;

/** Gives an invocation its next attempt, now or when limits and pauses allow it. */
export function start(turn: Turn, draft: InvocationDraft): void {
  const full = whyNot(turn, draft);
  if (full) enqueue(turn, draft, full);
  else begin(turn, draft);
}

/** Begins an attempt that may run. Raising `attempt` also makes every older stream stale. */
export function begin(turn: Turn, draft: InvocationDraft): void {
  takeTokens(turn, draft);
  setStatus(turn, draft, INVOKED);
  draft.attempt++;
  draft.heard = 0;
  draft.pausing = undefined;
  draft.runningAt ??= turn.now;
  turn.emit(snapshot(turn, draft));
}

/**
 * Starts the next attempt after a wait: earlier failures no longer count
 * (docs/spec/service-protocol.md#retries).
 */
export function wake(turn: Turn, draft: InvocationDraft): void {
  draft.failures = 0;
  draft.spared = undefined;
  draft.failuresSinceCommand = 0;
  draft.failingSince = undefined;
  draft.lastFailure = undefined;
  draft.lastAttempt = undefined;
  start(turn, draft);
}

/** The attempt died with the process that ran it: starts another one. */
export function recovered(turn: Turn, { id }: Event & { type: "recovered" }): void {
  const row = turn.find("invocation", id);
  if (row?.status.kind !== "invoked") return;
  const draft = turn.draft({ ...row });
  if (draft.pausing) pauseNow(turn, draft);
  else wake(turn, draft);
}

/** Emits the effect of an attempt again: while it waited for a slot only its number was kept. */
export function slotFree(turn: Turn, { id, attempt }: Event & { type: "slotFree" }): void {
  const row = turn.find("invocation", id);
  if (row?.status.kind !== "invoked" || row.attempt !== attempt) return;
  // Paused while it waited for a slot, so the attempt never runs.
  if (row.pausing) return pauseNow(turn, turn.draft({ ...row }));
  // So it was when its service, deployment or queue was paused: its handler has not begun.
  const paused = whyNot(turn, { ...row });
  if (paused) return enqueue(turn, turn.draft({ ...row }), paused);
  turn.emit(snapshot(turn, row));
}

function snapshot(turn: Turn, row: InvocationRow): Attempt {
  const entries = turn.list("journal", row.id).map(({ entry }) => entry);
  assert(entries.length === row.journal, "A journal has no holes");
  const state = eagerState(turn, row);
  const head = { type: "attempt", attempt: row.attempt, invocation: row, entries } as const;
  return state ? { ...head, state } : head;
}

/** The eager state of `Start`, cut at the limit (docs/spec/service-protocol.md#state). */
function eagerState(turn: Turn, row: InvocationRow): Attempt["state"] {
  const { access, service, key, scope } = row.target;
  if (access === "none" || key === undefined) return undefined;
  const found = handlerOf(turn, row);
  if (found && turn.schema.options(found.service, found.handler).lazyState) return undefined;
  const pairs: StatePair[] = [];
  let room = turn.schema.defaults.eagerStateBytesMax;
  for (const { name, value } of turn.list("state", objectOf(service, key, scope))) {
    room -= name.length + value.length;
    if (room < 0) return { partial: true, pairs };
    pairs.push({ name, value });
  }
  return { partial: false, pairs };
}

/** The handler's manifest on the deployment an invocation is pinned to, or on the latest one. */
export function handlerOf(
  turn: Turn,
  { target, pin }: InvocationRow,
): { service: ServiceSchema; handler: HandlerSchema } | undefined {
  const service = (pin && turn.schema.at(pin.deployment, target.service)) ??
    turn.schema.latest(target.service);
  const handler = service && handlerIn(service, target.handler);
  return service && handler ? { service, handler } : undefined;
}
