import { assert } from "../../assert.ts";
import {
  type Caller,
  type InvocationDraft,
  type InvocationRow,
  resultOf,
  type Status,
} from "../../model/invocation.ts";
import type { Entry, Result } from "../../model/journal.ts";
import type { Invoked } from "../../model/message.ts";
import { objectOf } from "../../model/target.ts";
import { setStatus } from "../flow/status.ts";
import { deliver } from "../outbox.ts";
import { expiryOf, forgetRetained, isExpired } from "../retention.ts";
import type { Turn } from "../turn.ts";
import { addCaller } from "./asked.ts";
import { start } from "./started.ts";
import { setTimer } from "./timers.ts";

/** A request to run a handler. A known id attaches to its invocation; a new one runs or waits. */
export function invoked(turn: Turn, event: Invoked): void {
  const known = event.fresh ? undefined : turn.findAlone(event.id);
  if (known && !isExpired(turn, known)) return repeated(turn, known, event);
  // Its retention is over, though it is not swept yet: its result must not be served
  // (docs/spec/ingress.md#idempotency).
  if (known) forgetRetained(turn, turn.draft({ ...known }));
  accept(turn, event);
}

function accept(turn: Turn, event: Invoked): void {
  const { id, reply, startAt, caller, headers, value } = event;
  const draft = newRow(turn, event);
  if (caller) draft.callers = [caller];
  // Ids can be reused. Start above every earlier attempt number so that stale streams are rejected,
  // even within one millisecond.
  if (!event.fresh) {
    draft.attempt = Math.max(turn.now, turn.attemptForgotten);
    turn.create("event", id);
  }
  admit(turn, draft, { startAt, entries: [{ kind: "input", headers, value }] });
  if (reply === undefined) return;
  const due = draft.scheduledAt === undefined ? {} : { startAt: draft.scheduledAt };
  turn.emit({ type: "reply", reply, id, status: "accepted", ...due });
}

/** Stores a new invocation with its first entries, to start now or at `startAt`. */
export function admit(
  turn: Turn,
  row: InvocationDraft,
  { entries, startAt }: {
    readonly entries: readonly Entry[];
    readonly startAt?: number | undefined;
  },
): void {
  const { id } = row;
  turn.create("invocation", id);
  turn.create("journal", id);
  turn.create("timer", id);
  let index = 0;
  for (const entry of entries) turn.put("journal", { id, index: index++, at: turn.now, entry });
  const draft = turn.draft(row);
  if (startAt === undefined || startAt <= turn.now) return startOrQueue(turn, draft);
  draft.scheduledAt = startAt;
  setStatus(turn, draft, { kind: "scheduled", at: startAt });
  setTimer(turn, { id, due: startAt, kind: "start", index: 0 });
}

/** Until `admit` decides. It holds no slots. */
const NEW: Status = { kind: "scheduled", at: 0 };
const NOBODY: readonly Caller[] = [];

type DraftFields =
  | "id"
  | "target"
  | "origin"
  | "retention"
  | "idempotencyKey"
  | "limitKey"
  | "priority"
  | "trace";

/** All fields are present, also those without a value: see `InvocationRow`. */
export function newRow({ now }: Turn, given: Pick<Invoked, DraftFields>): InvocationDraft {
  return {
    id: given.id,
    target: given.target,
    status: NEW,
    origin: given.origin,
    attempt: 0,
    heard: 0,
    journal: 1,
    commands: 1,
    failures: 0,
    spared: undefined,
    failuresSinceCommand: 0,
    failingSince: undefined,
    lastFailure: undefined,
    lastAttempt: undefined,
    events: undefined,
    failed: undefined,
    pausing: undefined,
    seedOf: undefined,
    pin: undefined,
    trace: given.trace,
    callers: NOBODY,
    idempotencyKey: given.idempotencyKey,
    limitKey: given.limitKey,
    priority: given.priority,
    waitedMs: undefined,
    suspensions: undefined,
    retention: given.retention,
    createdAt: now,
    modifiedAt: now,
    scheduledAt: undefined,
    inboxedAt: undefined,
    runningAt: undefined,
    completedAt: undefined,
    expiresAt: undefined,
    answer: undefined,
    output: undefined,
  };
}

/**
 * Starts an accepted invocation, or puts it into the inbox of its key
 * (docs/spec/service-protocol.md#service-types).
 */
export function startOrQueue(turn: Turn, draft: InvocationDraft): void {
  const { id, target: { access, service, key, scope } } = draft;
  if (access !== "exclusive") return start(turn, draft);
  assert(key !== undefined, "An exclusive handler has a key");
  const object = objectOf(service, key, scope);
  const lock = turn.find("lock", object);
  if (!lock) {
    turn.put("lock", { object, holder: id, head: 0, tail: 0 });
    return start(turn, draft);
  }
  turn.put("inbox", { object, seq: lock.tail, id });
  turn.put("lock", { ...lock, tail: lock.tail + 1 });
  setStatus(turn, draft, { kind: "inboxed", seq: lock.tail });
  draft.inboxedAt = turn.now;
}

/**
 * A request whose id exists already: its workflow id or idempotency key was used before
 * (docs/spec/service-protocol.md#calls).
 */
function repeated(turn: Turn, known: InvocationRow, event: Invoked): void {
  const { reply, caller } = event;
  const result = answerToRepeat(known, event);
  if (caller) {
    if (result) deliver(turn, { type: "answered", caller, result });
    else addCaller(turn, known.id, caller);
  }
  if (reply === undefined) return;
  turn.emit({
    type: "reply",
    reply,
    id: known.id,
    status: "previouslyAccepted",
    ...(known.scheduledAt === undefined ? {} : { startAt: known.scheduledAt }),
    ...(result ? { result } : {}),
    ...(known.target.access === "run" ? {} : expiryOf(known)),
  });
}

/** The reply to a repeated request; undefined: it waits for the result like the first one. */
function answerToRepeat(known: InvocationRow, { target }: Invoked): Result | undefined {
  if (target.access === "run") return ALREADY_INVOKED;
  return known.status.kind === "completed" ? resultOf(known) : undefined;
}

/**
 * A workflow runs once per id: a second submission is refused
 * (docs/spec/ingress.md#workflows).
 */
const ALREADY_INVOKED: Result = {
  kind: "failure",
  failure: { code: 409, message: "Previously accepted" },
};
