import type { Infer } from "superstruct";
import { parseDuration, printDuration } from "../model/duration.ts";
import {
  CONCURRENCY_MAX,
  type Limits,
  type Rate,
  RATE_COUNT_MAX,
  RATE_PERIOD_MS_MAX,
} from "../model/limits.ts";
import type { Json } from "./json.ts";
import { durationBetween, fields, maybe, wholeNumber, withDescription } from "./shapes.ts";

/** A rate as bodies have it (docs/spec/admin.md#rules). */
export const rateShape = fields({
  count: withDescription(wholeNumber(1, RATE_COUNT_MAX), "Starts in each period."),
  period: withDescription(durationBetween(1, RATE_PERIOD_MS_MAX), "How long a period is."),
  burst: withDescription(
    maybe(wholeNumber(1, RATE_COUNT_MAX)),
    "Starts at once after a time without any. Absent: as many as in a period.",
  ),
});

/** Limits as bodies have them: absent and null mean unlimited. */
export const limitFields = {
  concurrency: withDescription(
    maybe(wholeNumber(1, CONCURRENCY_MAX)),
    "Invocations that may run at once.",
  ),
  rate: withDescription(maybe(rateShape), "Invocations that may start in a time."),
};

/** Reads a rate that `rateShape` has let pass. */
export function parseRate({ count, period, burst }: Infer<typeof rateShape>): Rate {
  return { count, periodMs: parseDuration(period), ...(burst != null && { burst }) };
}

/** A rate as answers show it. */
export function rateRecord({ count, periodMs, burst }: Rate): Json {
  return { count, period: printDuration(periodMs), burst };
}

/** Limits as answers show them: what is unlimited is absent. */
export function limitsRecord({ concurrency, rate }: Limits = {}): Json {
  return { concurrency, rate: rate && rateRecord(rate) };
}
