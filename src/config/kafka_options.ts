import { count } from "./kinds.ts";
import { option } from "./option.ts";

/** Settings of Kafka clusters, subscriptions, and sidecars (docs/kafka.md). */
export const kafkaOptions = {
  "kafka.clusters-limit": option(count(1), "1000", {
    doc: "How many Kafka clusters there may be. Creating one more is refused (409).",
  }),
  "kafka.subscriptions-limit": option(count(1), "10000", {
    doc: "How many subscriptions there may be. Creating one more is refused (409).",
  }),
} as const;
