import type { Attempt } from "../engine/effect.ts";
import { parseInvocationId } from "../model/id.ts";
import type { Start } from "../wire/journal_codec.ts";

/**
 * What `Start` tells the SDK of an attempt (service protocol §3.6). `now` in milliseconds since the
 * epoch.
 */
export function startOf({ invocation, state }: Attempt, now: number): Start {
  const { id, target, failuresSinceCommand, modifiedAt, seedOf } = invocation;
  const idBytes = parseInvocationId(id);
  return {
    id,
    idBytes,
    ...(state && { state: state.pairs }),
    partialState: state?.partial ?? true,
    key: target.key ?? "",
    retryCount: failuresSinceCommand,
    sinceLastEntryMs: Math.max(0, now - modifiedAt),
    // Any number will do that stays the same (§7.6): of an id, these bytes are chance or a digest.
    randomSeed: (seedOf === undefined ? idBytes : parseInvocationId(seedOf)).subarray(8, 16),
  };
}
