import { choice, countOrUnlimited, duration, durationOrUnlimited, ratio } from "./kinds.ts";
import { option } from "./option.ts";

/** The options of handlers that set none themselves, and the most that a handler may ask for. */
export const handlerOptions = {
  "default-retry-policy.initial-interval": option(duration(), "500ms", {
    doc: "The delay of the first retry of a failed attempt. Up to 30 % is added at random.",
  }),
  "default-retry-policy.exponentiation-factor": option(ratio(1), "2", {
    doc: "The factor by which the delay grows from retry to retry.",
  }),
  "default-retry-policy.max-interval": option(duration(), "1m", {
    doc: "The longest delay between two attempts.",
  }),
  "default-retry-policy.max-attempts": option(countOrUnlimited(1), "70", {
    doc: "Attempts in all, the first included. Then `on-max-attempts` applies.",
  }),
  "default-retry-policy.on-max-attempts": option(choice("pause", "kill"), "pause", {
    doc: "Whether an invocation without attempts left pauses until it is resumed, or fails.",
  }),
  "default-journal-retention": option(duration(), "1d", {
    doc: "How long the journal of a completed invocation is kept.",
  }),
  "default-idempotency-retention": option(duration(), "1d", {
    doc: "How long the result of a call with an idempotency key is kept.",
  }),
  "default-workflow-completion-retention": option(duration(), "1d", {
    doc: "How long the result of a workflow is kept. Its id cannot be used again until then.",
  }),
  "max-journal-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "The longest retention a service may ask for. A longer one is reduced to it (RT0022).",
  }),
  "max-idempotency-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "As `max-journal-retention`, for results of calls with idempotency keys.",
  }),
  "max-workflow-completion-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "As `max-journal-retention`, for results of workflows.",
  }),
  "max-retry-policy-max-attempts": option(countOrUnlimited(1), "unlimited", {
    doc: "The most attempts in all, whatever the retry policy of a handler says.",
  }),
  "invocation-yield-threshold": option(duration(), "2s", {
    doc: "A longer delay before the next attempt gives back what the invocation takes of limits.",
  }),
} as const;
