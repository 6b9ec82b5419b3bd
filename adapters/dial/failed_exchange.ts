import { LateExchange } from "../../src/outbound/late_exchange.ts";
import type { DialListener, Exchange } from "../../src/dial.ts";

/** An exchange that could not even be begun, such as one with a header that HTTP does not allow. */
export function stillborn(listener: DialListener, cause: unknown): Exchange {
  const late = new LateExchange(listener);
  const message = cause instanceof Error ? cause.message : String(cause);
  // Not at once: nobody expects to be called before `open` has returned.
  queueMicrotask(() => late.fail({ kind: "unreachable", message }));
  return late;
}
