import { unreachable } from "../../assert.ts";
import type { AttemptFailure, InvocationDraft } from "../../model/invocation.ts";
import { isAwaited } from "../../model/invocation.ts";
import type { TerminalFailure } from "../../model/journal.ts";
import type { RetryOptions } from "../../model/schema.ts";
import type { AttemptEnded, Outcome } from "../event.ts";
import type { Turn } from "../turn.ts";
import { complete } from "./completed.ts";
import { handlerOf, wake } from "./started.ts";
import { setTimer } from "./timer_fired.ts";

/** A stream to a service is over: finish, park, or try again. Stale streams change nothing. */
export function attemptEnded(turn: Turn, event: AttemptEnded): void {
  const row = turn.find("invocation", event.id);
  if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;
  const draft = turn.draft({ ...row });
  const { outcome, chance } = event;
  switch (outcome.kind) {
    case "ended":
      return ended(turn, draft, chance);
    case "suspended":
      return suspend(turn, draft, outcome);
    case "failed":
      return backOff(turn, draft, { ...outcome, chance });
    default:
      unreachable(outcome);
  }
}

function ended(turn: Turn, draft: InvocationDraft, chance: number): void {
  const { answer } = draft;
  if (answer) return complete(turn, draft, answer.failure);
  backOff(turn, draft, {
    failure: {
      code: "RT0012",
      status: 500,
      message: "protocol violation: the attempt ended without an output",
    },
    reached: true,
    chance,
  });
}

function suspend(
  turn: Turn,
  draft: InvocationDraft,
  { awaiting, delivered }: Outcome & { kind: "suspended" },
): void {
  // What was delivered has been looked at; only what came later can be news (the watermark).
  for (let index = delivered; index < draft.journal; index++) {
    const entry = turn.find("journal", draft.id, index)?.entry;
    if (entry?.kind === "notification" && isAwaited(awaiting, entry.id)) return wake(turn, draft);
  }
  draft.status = { kind: "suspended", awaiting };
}

/** What went wrong, and what the next retry needs to know. */
export interface Setback {
  readonly failure: AttemptFailure;
  readonly retryAfterMs?: number;
  readonly reached: boolean;
  readonly chance: number;
}

/** Jitter grows a delay by up to this part of it (http-api §5.1). */
const JITTER = 0.3;

/** Plans the next attempt, or gives up as the retry policy says (service protocol §4.17). */
export function backOff(turn: Turn, draft: InvocationDraft, setback: Setback): void {
  const { failure, retryAfterMs, reached, chance } = setback;
  const policy = retryPolicy(turn, draft);
  draft.lastFailure = failure;
  if (reached) draft.failuresSinceCommand++;
  if (retryAfterMs === undefined && ++draft.failures >= policy.maxAttempts) {
    return giveUp(turn, draft, policy.onMaxAttempts);
  }
  const delay = retryAfterMs ?? Math.min(
        policy.maxIntervalMs,
        policy.initialIntervalMs * policy.factor ** Math.max(0, draft.failures - 1),
      ) * (1 + JITTER * chance);
  const until = Math.ceil(turn.now + delay);
  draft.status = { kind: "backingOff", until };
  setTimer(turn, { id: draft.id, due: until, kind: "retry", index: 0 });
}

function giveUp(turn: Turn, draft: InvocationDraft, how: "pause" | "kill"): void {
  if (how === "pause") draft.status = { kind: "paused" };
  else complete(turn, draft, terminal(draft.lastFailure));
}

function terminal(failure: AttemptFailure | undefined): TerminalFailure {
  const { status = 500, message = "unknown", stacktrace } = failure ?? {};
  return { code: status, message, ...(stacktrace ? { stacktrace } : {}) };
}

function retryPolicy(turn: Turn, draft: InvocationDraft): Required<RetryOptions> {
  const found = handlerOf(turn, draft);
  return found
    ? turn.schema.options(found.service, found.handler).retry
    : turn.schema.defaults.retry;
}
