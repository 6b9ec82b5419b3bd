import type { Attempt } from "../engine/effect.ts";
import { parseInvocationId } from "../model/id.ts";
import type { Start } from "../wire/journal_codec.ts";

/**
 * What `Start` tells the SDK of an attempt (docs/spec/service-protocol.md#control-messages). `now`
 * in milliseconds since the epoch.
 */
export function startOf({ invocation, state }: Attempt, now: number): Start {
  const { id, target, failuresSinceCommand, seedOf } = invocation;
  const idBytes = parseInvocationId(id);
  // A failure changes the row, too: an SDK that gives up after a time must not hear of that change.
  const since = invocation.failingSince ?? invocation.modifiedAt;
  return {
    id,
    idBytes,
    ...(state && { state: state.pairs }),
    partialState: state?.partial ?? true,
    key: target.key ?? "",
    retryCount: failuresSinceCommand,
    sinceLastEntryMs: Math.max(0, now - since),
    // Any number will do that stays the same (docs/spec/service-protocol.md#random-seed): of an id,
    // these bytes are chance or a digest.
    randomSeed: (seedOf === undefined ? idBytes : parseInvocationId(seedOf)).subarray(8, 16),
  };
}
