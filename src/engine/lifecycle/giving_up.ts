import type { AttemptFailure, InvocationDraft } from "../../model/invocation.ts";
import type { TerminalFailure } from "../../model/journal.ts";
import { deadLetterTopicOf } from "../../model/kafka.ts";
import type { RetryOptions } from "../../model/schema.ts";
import type { Turn } from "../turn.ts";
import { complete } from "./completed.ts";
import { pauseForLetter, pauseNow } from "./paused.ts";
import { handlerOf } from "./started.ts";

/** What becomes of an invocation whose attempts are used up. `letter`: decision 053. */
type GivingUp = "pause" | "kill" | "letter";

type RetryPolicy = Omit<Required<RetryOptions>, "onMaxAttempts"> & {
  readonly onMaxAttempts: GivingUp;
};

/**
 * The retry policy of an invocation: that of its handler, unless the subscription that made it allows
 * fewer attempts (option `max.attempts`, docs/kafka.md).
 */
export function retryPolicyOf(turn: Turn, draft: InvocationDraft): RetryPolicy {
  const found = handlerOf(turn, draft);
  const policy = found
    ? turn.schema.options(found.service, found.handler).retry
    : turn.schema.orphanOptions.retry;
  const { origin } = draft;
  if (origin.by !== "subscription") return policy;
  const { options } = turn.schema.controls.subscriptions.get(origin.id) ?? {};
  const own = Number(options?.["max.attempts"] ?? Infinity);
  if (own > policy.maxAttempts) return policy;
  const hasLetters = options !== undefined && deadLetterTopicOf(options) !== undefined;
  return { ...policy, maxAttempts: own, onMaxAttempts: hasLetters ? "letter" : "kill" };
}

/** Ends the attempts of an invocation, as its retry policy says. */
export function giveUp(turn: Turn, draft: InvocationDraft, how: GivingUp): void {
  if (how === "kill") completeFailed(turn, draft);
  else if (how === "pause") pauseNow(turn, draft, draft.lastFailure);
  else pauseForLetter(turn, draft);
}

/** Completes an invocation with the failure of its last attempt. */
export function completeFailed(turn: Turn, draft: InvocationDraft): void {
  complete(turn, draft, terminal(draft.lastFailure));
}

function terminal(failure: AttemptFailure | undefined): TerminalFailure {
  const { status = 500, message = "unknown", stacktrace } = failure ?? {};
  return { code: status, message, ...(stacktrace ? { stacktrace } : {}) };
}
