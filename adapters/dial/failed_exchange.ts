import { PendingExchange } from "../../src/outbound/pending_exchange.ts";
import type { DialListener, Exchange } from "../../src/dial.ts";

/** An exchange that could not be started, such as one with a header that HTTP does not allow. */
export function failedExchange(listener: DialListener, cause: unknown): Exchange {
  const pending = new PendingExchange(listener);
  const message = cause instanceof Error ? cause.message : String(cause);
  // Later, because a listener is never called before `open` has returned.
  queueMicrotask(() => pending.fail({ kind: "unreachable", message }));
  return pending;
}
