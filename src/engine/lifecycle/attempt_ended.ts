import { unreachable } from "../../assert.ts";
import { afterNotification } from "../../model/awaiting.ts";
import type {
  AttemptFailure,
  AttemptSite,
  Awaiting,
  InvocationDraft,
  Status,
} from "../../model/invocation.ts";
import type { AttemptEnded, Outcome } from "../event.ts";
import { recordEvent } from "../failure_history.ts";
import { limitsOf } from "../flow/admission.ts";
import { demandOf } from "../flow/queue.ts";
import { addSlotWait, setStatus } from "../flow/status.ts";
import type { Turn } from "../turn.ts";
import { complete } from "./completed.ts";
import { giveUp, retryPolicyOf } from "./giving_up.ts";
import { pauseNow } from "./paused.ts";
import { wake } from "./started.ts";
import { setTimer } from "./timers.ts";

/** The stream of an attempt has ended: complete, suspend, or retry. Stale streams change nothing. */
export function attemptEnded(turn: Turn, event: AttemptEnded): void {
  // A failed attempt needs no entry of its journal, so a long one that was evicted is not loaded.
  const row = turn.findAlone(event.id);
  if (row?.status.kind !== "invoked" || row.attempt !== event.attempt) return;
  const draft = turn.draft({ ...row });
  const { outcome, jitter, site } = event;
  addSlotWait(draft, site?.waitedMs);
  const how = { jitter, site, since: row.modifiedAt };
  switch (outcome.kind) {
    case "ended":
      return ended(turn, draft, how);
    case "suspended":
      return suspend(turn, draft, outcome);
    case "failed":
      return backOff(turn, draft, { ...outcome, ...how });
    default:
      unreachable(outcome);
  }
}

function ended(
  turn: Turn,
  draft: InvocationDraft,
  how: Pick<FailedAttempt, "jitter" | "site" | "since">,
): void {
  const { answer } = draft;
  if (answer) return complete(turn, draft, answer.failure);
  backOff(turn, draft, {
    failure: {
      code: "RT0012",
      status: 500,
      message: "protocol violation: the attempt ended without an output",
    },
    reached: true,
    ...how,
  });
}

function suspend(
  turn: Turn,
  draft: InvocationDraft,
  { awaiting, delivered }: Outcome & { kind: "suspended" },
): void {
  if (draft.pausing) return pauseNow(turn, draft);
  let left: Awaiting | undefined = awaiting;
  turn.prefetchEntries(draft.id, delivered, draft.journal);
  // The SDK has seen the entries that were sent; only later ones can wake it (the watermark).
  for (let index = delivered; index < draft.journal; index++) {
    const entry = turn.find("journal", draft.id, index)?.entry;
    if (entry?.kind !== "notification") continue;
    left = afterNotification(left, entry.id, entry.result);
    if (!left) return yielded(turn, draft);
  }
  setStatus(turn, draft, { kind: "suspended", awaiting: left });
}

/** What it awaits is there already: the next attempt follows. */
function yielded(turn: Turn, draft: InvocationDraft): void {
  const { count = 0, yields = 0, ms = 0 } = draft.suspensions ?? {};
  draft.suspensions = { count, yields: yields + 1, ms };
  wake(turn, draft);
}

/** The failure of an attempt, and what the next retry depends on. */
export interface FailedAttempt {
  readonly failure: AttemptFailure;
  readonly retryAfterMs?: number;
  readonly reached: boolean;
  readonly behavior?: "pause" | "fail";
  readonly jitter: number;
  readonly site: AttemptSite | undefined;
  /** When the invocation had last changed before this. */
  readonly since: number;
}

/** Jitter extends a delay by up to this fraction of it (docs/spec/runtimes.md#settings). */
const JITTER = 0.3;

/**
 * Plans the next attempt, or gives up as the retry policy says
 * (docs/spec/service-protocol.md#retries).
 */
export function backOff(turn: Turn, draft: InvocationDraft, failed: FailedAttempt): void {
  const { failure, retryAfterMs, reached, behavior, jitter, site, since } = failed;
  const policy = retryPolicyOf(turn, draft);
  const isRepeat = repeats(draft, failed);
  draft.lastFailure = failure;
  draft.failed = (draft.failed ?? 0) + 1;
  if (reached && draft.failuresSinceCommand++ === 0) draft.failingSince = since;
  if (behavior === "fail") {
    return complete(turn, draft, { code: failure.status, message: failure.message });
  }
  if (behavior === "pause" || draft.pausing) return pauseNow(turn, draft, failure);
  if (retryAfterMs !== undefined) draft.spared = (draft.spared ?? 0) + 1;
  else if (++draft.failures >= policy.maxAttempts) {
    return giveUp(turn, draft, policy.onMaxAttempts);
  }
  if (!isRepeat) recordEvent(turn, draft, { kind: "transientError", failure });
  const delay = retryAfterMs ?? Math.min(
        policy.maxIntervalMs,
        policy.initialIntervalMs * policy.factor ** Math.max(0, draft.failures - 1),
      ) * (1 + JITTER * jitter);
  const until = Math.ceil(turn.now + delay);
  setStatus(turn, draft, backingOff(turn, draft, until));
  if (site) {
    const { waitedMs: _, ...where } = site;
    draft.lastAttempt = { ...draft.lastAttempt, ...where };
  }
  setTimer(turn, { id: draft.id, due: until, kind: "retry", index: 0 });
}

/** A short back-off keeps the slots (docs/spec/admin.md#rules). Who counts nowhere needs no mark. */
function backingOff(turn: Turn, draft: InvocationDraft, until: number): Status {
  const { controls, defaults } = turn.schema;
  const isShort = until - turn.now <= (defaults.yieldThresholdMs ?? 0);
  const isCounted = limitsOf(demandOf(draft, turn.schema), controls).length > 0 ||
    draft.target.scope !== undefined;
  return isShort && isCounted
    ? { kind: "backingOff", until, holds: true }
    : { kind: "backingOff", until };
}

/**
 * Whether the last attempt failed in the same way without progress: then no event is written (measured
 * at the reference, which compares neither stack traces nor notifications).
 */
function repeats({ lastFailure }: InvocationDraft, { failure }: FailedAttempt): boolean {
  // A stored command and a new start clear it.
  if (!lastFailure) return false;
  const { code, status, message, related } = lastFailure;
  return code === failure.code && status === failure.status && message === failure.message &&
    related?.index === failure.related?.index && related?.name === failure.related?.name &&
    related?.type === failure.related?.type;
}
