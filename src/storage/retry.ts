import type { Clock, SqlClient } from "../ports.ts";

/** Limits of retries while the database cannot be reached. */
export interface RetryLimits {
  /** Absent: retries follow at once, and up to `ATTEMPTS_MAX` of them. */
  readonly clock?: Clock | undefined;
  /** How long a request is retried, counted from its first loss. 0: never. */
  readonly retryMs: number;
}

const PAUSE_MS = 20;
const PAUSE_MAX_MS = 1_000;
/** Retries where there is no clock that could limit their time. */
const ATTEMPTS_MAX = 100;

/**
 * Runs `act`, and retries it with exponential back-off while it fails by a loss (`SqlClient.isLost`).
 * `act` must be idempotent. Resolves and rejects as `act` does; rejects with the last loss after
 * `retryMs`, or when `isOver` says that no caller waits any more.
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

/** The same client, which retries lost reads. */
export function withReadRetries(client: SqlClient, retry: RetryLimits): SqlClient {
  const { isLost } = client;
  // A client without losses, as of a local file, needs no retries.
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
