import type { Clock, SqlClient } from "../ports.ts";

/** How a database that cannot be reached is waited for. */
export interface RetryLimits {
  /** Absent: requests are repeated at once, and not often. */
  readonly clock?: Clock | undefined;
  /** How long a request is repeated. 0: never. */
  readonly retryMs: number;
}

const PAUSE_MS = 20;
const PAUSE_MAX_MS = 1_000;
/** Repetitions when there is no clock to tell how long it has been. */
const ATTEMPTS_MAX = 100;

/**
 * Does `act`, and again while it fails by a loss (`SqlClient.isLost`), in ever longer intervals.
 * So it must not matter whether an earlier one took effect. Rejects with the last cause once
 * patience is used up, or when `isExpired` says that nobody waits any more.
 */
export async function withRetries<T>(
  client: SqlClient,
  act: () => Promise<T>,
  { clock, retryMs, isOver = () => false }: RetryLimits & { readonly isOver?: () => boolean },
): Promise<T> {
  let until: number | undefined;
  for (let tries = 0;; tries++) {
    try {
      return await act();
    } catch (cause) {
      if (!client.isLost?.(cause) || isOver()) throw cause;
      until ??= (clock?.now() ?? 0) + retryMs;
      const isSpent = clock ? clock.now() >= until : tries >= ATTEMPTS_MAX || retryMs === 0;
      if (isSpent) throw cause;
      if (clock) await pause(clock, Math.min(PAUSE_MS * 2 ** tries, PAUSE_MAX_MS));
      if (isOver()) throw cause;
    }
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.at(clock.now() + ms, resolve));
}

/** The same client, whose reads are repeated while they are lost. */
export function withReadRetries(client: SqlClient, retry: RetryLimits): SqlClient {
  const { isLost } = client;
  // A database that loses nothing needs nobody in between.
  if (!isLost) return client;
  return {
    batch: (mode, statements) =>
      mode === "read"
        ? withRetries(client, () => client.batch(mode, statements), retry)
        : client.batch(mode, statements),
    isRefused: (cause) => client.isRefused(cause),
    isLost: (cause) => isLost.call(client, cause),
    close: () => client.close(),
  };
}
