import { choice, count, flag, optionalText, optionalUrl, texts } from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of what the server tells about itself: records of the log, and spans. */
export const watching = {
  "log-level": option(choice("debug", "info", "warn", "error"), "info", {
    doc: "Lesser records are not written.",
  }),
  "log-filter": option(optionalText("a level, or levels by target"), "", {
    doc: "A level as other servers spell it (`warn,target=debug`): what names no target counts.",
  }),
  "log-format": option(choice("json", "pretty"), "json", {
    doc: "One JSON object a line, or one line for people.",
  }),
  "log-failure-details": option(flag(), "true", {
    doc:
      "Whether records of failed attempts hold the handler's message, the object's key and the step's name. Switch it off where these may be secret.",
  }),
  "tracing-endpoint": option(optionalUrl(), "", {
    doc:
      "Collector of spans (OTLP over HTTP, JSON). Without a path: `/v1/traces`. Empty: no spans.",
  }),
  "tracing-headers": option(texts(), "[]", {
    doc: "Sent to the collector, as `name=value`.",
    secret: true,
  }),
  "tracing-sample-percent": option(count(0, 100), "100", {
    doc: "How many requests that bring no trace begin a sampled one.",
  }),
  "tracing-queue-spans-max": option(count(1), "8192", {
    doc: "Spans that may wait for the collector. Further ones are dropped and counted.",
  }),
} as const;
