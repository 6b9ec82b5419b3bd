import { choice, countOrUnlimited, duration, durationOrUnlimited, ratio } from "./kinds.ts";
import { option } from "./option.ts";

/** What handlers get that set nothing themselves, and the most that they may ask for. */
export const handlerOptions = {
  "default-retry-policy.initial-interval": option(duration(), "500ms", {
    doc: "Delay of the first retry of a failed attempt. Up to 30 % is added by chance.",
  }),
  "default-retry-policy.exponentiation-factor": option(ratio(1), "2", {
    doc: "By what the delay grows from retry to retry.",
  }),
  "default-retry-policy.max-interval": option(duration(), "1m", {
    doc: "Longest delay between two attempts.",
  }),
  "default-retry-policy.max-attempts": option(countOrUnlimited(1), "70", {
    doc: "Attempts in all, the first included. Then `on-max-attempts` applies.",
  }),
  "default-retry-policy.on-max-attempts": option(choice("pause", "kill"), "pause", {
    doc: "Whether an invocation that used up its attempts waits for somebody or fails.",
  }),
  "default-journal-retention": option(duration(), "1d", {
    doc: "How long the journal of a completed invocation is kept.",
  }),
  "default-idempotency-retention": option(duration(), "1d", {
    doc: "How long the result of a call with an idempotency key is kept.",
  }),
  "default-workflow-completion-retention": option(duration(), "1d", {
    doc: "How long the result of a workflow is kept, and so its id cannot be used again.",
  }),
  "max-journal-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "The most that services may ask for; what is more is cut down to it (RT0022).",
  }),
  "max-idempotency-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "As `max-journal-retention`, of results kept for idempotency keys.",
  }),
  "max-workflow-completion-retention": option(durationOrUnlimited(), "unlimited", {
    doc: "As `max-journal-retention`, of results of workflows.",
  }),
  "max-retry-policy-max-attempts": option(countOrUnlimited(1), "unlimited", {
    doc: "Attempts in all, whatever the retry policy of a handler says.",
  }),
} as const;
