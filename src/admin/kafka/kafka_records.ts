import { type Options, redacted } from "../../kafka/options.ts";
import type { SubscriptionStatus } from "../../kafka/status.ts";
import { type KafkaCluster, lagOf, type Subscription } from "../../model/kafka.ts";
import type { Controls } from "../../model/limits.ts";
import { sourceOf } from "../../kafka/source.ts";
import { OWN } from "../../names.ts";
import type { Json } from "../json.ts";
import { printInstant } from "../records.ts";

/** A cluster as answers show it, without its secrets. */
export function clusterRecord({ name, properties, createdAt }: KafkaCluster): Json {
  return { name, properties: shownOptions(properties), created_at: printInstant(createdAt) };
}

/**
 * A subscription as answers show it: without secrets, and with the client id that it has if none is
 * given.
 */
export function subscriptionRecord(
  { id, source, sink, options, paused }: Subscription,
  { clusters }: Pick<Controls, "clusters">,
): Json {
  const { properties = {} } = clusters.get(sourceOf({ source }).cluster) ?? {};
  const isNamed = Object.hasOwn(options, CLIENT) || Object.hasOwn(properties, CLIENT);
  const shown = isNamed ? options : { ...options, [CLIENT]: OWN };
  return { id, source, sink, options: shownOptions(shown), paused };
}

/** What is shown of a subscription beside itself: how it is, and how far. */
export function statusRecord({ state, lastError, partitions }: SubscriptionStatus): Json {
  return {
    state,
    last_error: lastError && { message: lastError.message, at: printInstant(lastError.at) },
    partitions: partitions.map((one) => ({
      topic: one.topic,
      partition: one.partition,
      position: one.position,
      end: one.end,
      lag: lagOf(one),
      stopped_by: one.stoppedBy,
    })),
  };
}

const CLIENT = "client.id";

/** In order of their names, without secrets. */
function shownOptions(options: Options): Options {
  return redacted(Object.fromEntries(Object.entries(options).sort(([a], [b]) => a < b ? -1 : 1)));
}
