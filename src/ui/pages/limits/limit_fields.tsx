import type { Rate } from "../../data/catalog.ts";
import { durationMs, durationText } from "../../widgets/duration.ts";
import { TextField } from "../../widgets/form_dialog.tsx";

/** Limits as they are typed. Empty: none. */
export interface TypedLimits {
  readonly concurrency: string;
  readonly count: string;
  readonly period: string;
  readonly burst: string;
}

export const NO_LIMITS: TypedLimits = { concurrency: "", count: "", period: "1m", burst: "" };

/** Fields for what may run at once, and what may start in a time. */
export function LimitFields({ limits, onChange }: {
  readonly limits: TypedLimits;
  readonly onChange: (limits: TypedLimits) => void;
}) {
  const field = (name: keyof TypedLimits, label: string, hint: string) => (
    <TextField
      {...{ label, hint, value: limits[name] }}
      onChange={(value) => onChange({ ...limits, [name]: value })}
    />
  );
  return (
    <>
      {field("concurrency", "At once", "How many may run. Empty: any number.")}
      {field("count", "Starts in each period", "Empty: any number.")}
      {limits.count !== "" && field("period", "Period", "Such as 1s, 1m or 1h")}
      {limits.count !== "" &&
        field(
          "burst",
          "Burst",
          "Starts at once after a time without any. Empty: as many as in a period.",
        )}
    </>
  );
}

/** A number where digits were typed. Other texts are sent as they are, so that the server says why not. */
function numberOf(text: string): number | string | null {
  const typed = text.trim();
  if (typed === "") return null;
  return /^\d{1,15}$/.test(typed) ? Number(typed) : typed;
}

/** What is sent: null removes a limit. */
export function limitsBody({ concurrency, count, period, burst }: TypedLimits) {
  const rate = count.trim() === ""
    ? null
    : { count: numberOf(count), period: period.trim(), burst: numberOf(burst) };
  return { concurrency: numberOf(concurrency), rate };
}

/** Limits to begin with, as the server has them. */
export function typedOf(limits: {
  readonly concurrency?: unknown;
  readonly rate?: Rate | null | undefined;
}): TypedLimits {
  const { concurrency, rate } = limits;
  return {
    ...NO_LIMITS,
    ...(concurrency != null && { concurrency: String(concurrency) }),
    ...(rate && { count: String(rate.count), period: rate.period }),
    ...(rate?.burst != null && { burst: String(rate.burst) }),
  };
}

/** A rate for people: `100 in 1 m, 20 at once`. `period`: as the API or SQL spells it. */
export function rateText(rate: { count: unknown; period: string; burst?: unknown }): string {
  const ms = durationMs(rate.period);
  const period = ms === undefined ? rate.period : durationText(ms);
  return `${rate.count} in ${period}${rate.burst == null ? "" : `, ${rate.burst} at once`}`;
}
