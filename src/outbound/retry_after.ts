/** Longer waits are cut to this one. */
const RETRY_AFTER_MAX_MS = 365 * 24 * 3_600_000;

/**
 * Milliseconds to wait from a `Retry-After` header, which holds seconds or an HTTP date
 * (docs/spec/service-protocol.md#responses). `now` in milliseconds since the epoch. Undefined when
 * absent or unreadable.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_MAX_MS);
  // A bare number is no date, though `Date.parse` would take it for one.
  if (!/^[A-Za-z]{3}/.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  return Math.min(Math.max(0, at - now), RETRY_AFTER_MAX_MS);
}
