import type { Attempt } from "../engine/effect.ts";
import { parseInvocationId } from "../model/id.ts";
import type { Start } from "../wire/journal_codec.ts";

/** The version since which handlers see their scope, limit key and idempotency key. */
const PROTOCOL_WITH_SCOPES = 7;

/**
 * The `Start` message of an attempt (docs/spec/service-protocol.md#control-messages). `now` in
 * milliseconds since the epoch.
 */
export function startOf(
  { invocation, state }: Attempt,
  { now, protocol }: { readonly now: number; readonly protocol: number },
): Start {
  const { id, target, failuresSinceCommand, seedOf } = invocation;
  const idBytes = parseInvocationId(id);
  // A failure changes `modifiedAt`, too, but must not restart the time after which an SDK gives up.
  const since = invocation.failingSince ?? invocation.modifiedAt;
  return {
    id,
    idBytes,
    ...(state && { state: state.pairs }),
    partialState: state?.partial ?? true,
    key: target.key ?? "",
    retryCount: failuresSinceCommand,
    sinceLastEntryMs: Math.max(0, now - since),
    // Any number that stays the same for the invocation works
    // (docs/spec/service-protocol.md#random-seed): these bytes of an id are random or a digest.
    randomSeed: (seedOf === undefined ? idBytes : parseInvocationId(seedOf)).subarray(8, 16),
    ...(protocol >= PROTOCOL_WITH_SCOPES && {
      scope: target.scope,
      limitKey: invocation.limitKey,
      idempotencyKey: invocation.idempotencyKey,
    }),
  };
}
