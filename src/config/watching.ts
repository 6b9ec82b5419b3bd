import {
  choice,
  count,
  durationOrUnlimited,
  flag,
  optionalText,
  optionalUrl,
  texts,
} from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of logs and traces. */
export const watching = {
  "log-level": option(choice("debug", "info", "warn", "error"), "info", {
    doc: "The lowest level of records that are written.",
  }),
  "log-filter": option(optionalText("a level, or levels by target"), "", {
    doc:
      "A level as other servers write it (`warn,target=debug`). Parts with a target are ignored.",
  }),
  "log-format": option(choice("json", "pretty"), "json", {
    doc: "Whether a record is one JSON object per line, or a line of text for people.",
  }),
  "log-failure-details": option(flag(), "true", {
    doc:
      "Whether records of failed attempts hold the handler's message, the object's key and the step's name, and those of waits the reason. Switch it off where these may be secret.",
  }),
  "log-waits-after": option(durationOrUnlimited(1), "5m", {
    doc:
      "An invocation that has waited this long for a lock, a limit, a pause or a slot is logged once, with the reason. Unlimited: none is.",
  }),
  "tracing-endpoint": option(optionalUrl(), "", {
    doc:
      "The URL of a collector of spans (OTLP over HTTP, JSON); `/v1/traces` if it has no path. Empty: no spans.",
  }),
  "tracing-headers": option(texts(), "[]", {
    doc: "Headers that are sent to the collector, as `name=value`.",
    secret: true,
  }),
  "tracing-sample-percent": option(count(0, 100), "100", {
    doc: "The percentage of requests without a trace that begin a sampled one.",
  }),
  "tracing-queue-spans-max": option(count(1), "8192", {
    doc: "Spans that may wait for the collector. Further ones are dropped and counted.",
  }),
} as const;
