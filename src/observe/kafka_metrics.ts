import { lagOf, type PartitionReport } from "../model/kafka.ts";
import type { IngestCounts } from "./ingest_counts.ts";
import type { Page } from "./metric_table.ts";

/** A subscription, its state, and how far sidecars are in its partitions. */
export type SubscriptionGauges = readonly [
  subscription: { readonly id: string },
  status: { readonly state: string; readonly partitions: readonly PartitionReport[] },
];

/** What is known of Kafka: records since the process began, and positions as they were reported last. */
export function kafkaMetrics(
  page: Page,
  counts: IngestCounts,
  subscriptions: readonly SubscriptionGauges[] = [],
): void {
  const families = [
    ["perdure_kafka_ingress_requests_total", "taken"],
    ["perdure_kafka_ingress_replays_total", "replays"],
    ["perdure_kafka_ingress_poison_total", "poison"],
    ["perdure_kafka_ingress_full_total", "full"],
  ] as const;
  for (const [family, number] of families) {
    page.family(family);
    for (const [{ subscription, topic, partition }, numbers] of counts) {
      page.sample(numbers[number], { subscription, topic, partition: String(partition) });
    }
  }
  page.family("perdure_kafka_commit_failures_total");
  for (const [subscription, times] of counts.commitFailures) page.sample(times, { subscription });
  page.family("perdure_kafka_subscription_state");
  for (const [{ id }, { state }] of subscriptions) page.sample(1, { subscription: id, state });
  positions(page, subscriptions);
}

function positions(page: Page, subscriptions: readonly SubscriptionGauges[]): void {
  const families = [
    ["perdure_kafka_position", ({ position }: PartitionReport) => position],
    ["perdure_kafka_end", ({ end }: PartitionReport) => end],
    ["perdure_kafka_lag", lagOf],
  ] as const;
  for (const [family, read] of families) {
    page.family(family);
    for (const [{ id }, { partitions }] of subscriptions) {
      for (const one of partitions) {
        const value = read(one);
        const { topic, partition } = one;
        if (value === undefined) continue;
        page.sample(value, { subscription: id, topic, partition: String(partition) });
      }
    }
  }
}
