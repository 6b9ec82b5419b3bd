import type { Member } from "../model/member.ts";
import type { Schema } from "../model/schema.ts";
import type { Vitals } from "../vitals.ts";
import { type ByHandler, OTHER } from "./by_handler.ts";
import { Exposition, type Labels } from "./exposition.ts";
import { METRICS, type Page } from "./metric_table.ts";
import { FAILED, type Meter, SUCCEEDED, WAIT_CAUSES } from "./meter.ts";
import { kafkaMetrics, type SubscriptionGauges } from "./kafka_metrics.ts";
import { processMetrics } from "./process_metrics.ts";
import { STATUSES } from "./status_counts.ts";

/** The gauges of a partition at this moment. */
export interface PartitionGauges {
  readonly mailboxEvents: number;
  readonly residentBytes: number;
  /** Timers in memory. */
  readonly timers: number;
  readonly running: number;
  /** Attempts that wait for a slot. */
  readonly queued: number;
  readonly logRows: number;
  readonly logBytes: number;
}

/** The input of one page of metrics. */
export interface MetricsSources {
  readonly version: string;
  readonly meter: Meter;
  readonly schema: Schema;
  /** By index in `STATUSES`. Absent: they are still being counted. */
  readonly invocations?: ByHandler | undefined;
  /** Absent: the partition is down. */
  readonly partition?: PartitionGauges | undefined;
  readonly waitingRequests: number;
  /** The members of a fleet. Absent: no fleet. */
  readonly members?: readonly Member[] | undefined;
  /** Of which sidecars report to this process. */
  readonly subscriptions?: readonly SubscriptionGauges[] | undefined;
  readonly spans?: { readonly exported: number; readonly dropped: number } | undefined;
  readonly vitals?: Vitals | undefined;
}

/** The label of all handlers that are not registered any more, so that labels stay few. */
const UNREGISTERED = "unregistered";

/** The page of metrics. Units are in the names; totals are since the process began. */
export function metricsText(sources: MetricsSources): string {
  const page = new Exposition(METRICS);
  page.family("perdure_build_info")
    .sample(1, { version: sources.version });
  invocations(page, sources);
  durations(page, sources);
  waits(page, sources);
  requests(page, sources.meter);
  attempts(page, sources);
  turns(page, sources.meter);
  partition(page, sources);
  kafkaMetrics(page, sources.meter.ingested, sources.subscriptions);
  databases(page, sources.vitals);
  if (sources.members) fleet(page, sources.members);
  if (sources.spans) spans(page, sources.spans);
  processMetrics(page, sources.meter, sources.vitals);
  return page.toString();
}

function invocations(page: Page, { invocations: counts, meter, schema }: MetricsSources) {
  page.family("perdure_invocations_counted").sample(counts ? 1 : 0);
  if (counts) {
    page.family("perdure_invocations");
    for (const [labels, numbers] of registered(counts, schema, STATUSES.length)) {
      for (const [i, [, status]] of STATUSES.entries()) {
        page.sample(numbers[i] ?? 0, { ...labels, status });
      }
    }
  }
  page.family("perdure_invocations_completed_total");
  for (const [labels, numbers] of registered(meter.completed, schema, 2)) {
    page.sample(numbers[SUCCEEDED] ?? 0, { ...labels, result: "success" });
    page.sample(numbers[FAILED] ?? 0, { ...labels, result: "failure" });
  }
}

function durations(page: Page, { meter, schema }: MetricsSources): void {
  page.family("perdure_invocation_duration_seconds");
  const isNamed = (service: string, handler: string) =>
    service === OTHER || schema.latest(service)?.handlers[handler] !== undefined;
  const histograms = meter.durations.histograms((service, handler) =>
    isNamed(service, handler) ? [service, handler] : [UNREGISTERED, UNREGISTERED]
  );
  for (const [service, handler, one] of histograms) page.histogram(one, { service, handler });
}

function waits(page: Page, { meter, schema }: MetricsSources): void {
  page.family("perdure_invocation_waited_seconds_total");
  for (const [labels, numbers] of registered(meter.waited, schema, WAIT_CAUSES.length)) {
    for (const [i, cause] of WAIT_CAUSES.entries()) {
      const seconds = numbers[i] ?? 0;
      if (seconds > 0) page.sample(seconds, { ...labels, cause });
    }
  }
  const { services, pausedDeployments, pausedQueues } = schema.controls;
  const pausedServices = [...services.values()].filter(({ paused }) => paused).length;
  page.family("perdure_paused");
  page.sample(pausedServices, { kind: "service" });
  page.sample(pausedDeployments.size, { kind: "deployment" });
  page.sample(pausedQueues.size, { kind: "queue" });
}

function requests(page: Page, { requests }: Meter): void {
  page.family("perdure_requests_total");
  for (const [name, counts] of Object.entries(requests)) {
    for (const [route, status, count] of counts) {
      page.sample(count, { interface: name, route, status: String(status) });
    }
  }
}

function attempts(page: Page, { meter, schema, partition }: MetricsSources): void {
  page.family("perdure_attempts_started_total");
  for (const [labels, [count = 0]] of registered(meter.started, schema, 1)) {
    page.sample(count, labels);
  }
  page.family("perdure_attempts_failed_total");
  for (const [code, counts] of meter.failed) {
    for (const [labels, [count = 0]] of registered(counts, schema, 1)) {
      if (count > 0) page.sample(count, { ...labels, code });
    }
  }
  page.family("perdure_attempts_running")
    .sample(partition?.running ?? 0);
  page.family("perdure_attempts_queued")
    .sample(partition?.queued ?? 0);
}

function turns(page: Page, meter: Meter): void {
  page.family("perdure_turn_duration_seconds")
    .histogram(meter.turnSeconds);
  page.family("perdure_turn_events_total")
    .sample(meter.events);
  page.family("perdure_turn_reruns_total").sample(meter.reruns);
  page.family("perdure_commit_duration_seconds").histogram(meter.commitSeconds);
  page.family("perdure_commit_rows")
    .histogram(meter.commitRows);
}

function partition(page: Page, { partition, meter, waitingRequests }: MetricsSources): void {
  page.family("perdure_partition_up")
    .sample(partition ? 1 : 0);
  page.family("perdure_partition_failures_total")
    .sample(meter.restarts);
  page.family("perdure_slot_disagreements_total");
  for (const [table, count] of Object.entries(meter.disagreements)) page.sample(count, { table });
  page.family("perdure_waiting_requests")
    .sample(waitingRequests);
  if (!partition) return;
  page.family("perdure_mailbox_events")
    .sample(partition.mailboxEvents);
  page.family("perdure_resident_bytes")
    .sample(partition.residentBytes);
  page.family("perdure_resident_timers")
    .sample(partition.timers);
  page.family("perdure_log_pending_rows")
    .sample(partition.logRows);
  page.family("perdure_log_pending_bytes")
    .sample(partition.logBytes);
}

function databases(page: Page, vitals: Vitals | undefined): void {
  if (!vitals?.databases) return;
  page.family("perdure_database_bytes");
  for (const { name, bytes } of vitals.databases) page.sample(bytes, { database: name });
  page.family("perdure_database_wal_bytes");
  for (const { name, walBytes } of vitals.databases) page.sample(walBytes, { database: name });
}

function fleet(page: Page, members: readonly Member[]): void {
  page.family("perdure_fleet_members")
    .sample(members.length);
  page.family("perdure_fleet_members_unreached").sample(
    members.filter(({ unreached }) => unreached).length,
  );
  page.family("perdure_fleet_partitions");
  for (const { address, partitions } of members) page.sample(partitions.length, { address });
}

function spans(page: Page, { exported, dropped }: NonNullable<MetricsSources["spans"]>) {
  page.family("perdure_spans_exported_total")
    .sample(exported);
  page.family("perdure_spans_dropped_total")
    .sample(dropped);
}

/** Every registered handler, also those without numbers; all others are added up. */
function* registered(
  counts: ByHandler,
  schema: Schema,
  size: number,
): Generator<readonly [Labels, Float64Array]> {
  const known = new Map<string, Set<string>>();
  for (const { name, handlers } of schema.services()) {
    known.set(name, new Set(Object.keys(handlers)));
    for (const handler of Object.keys(handlers)) {
      yield [{ service: name, handler }, counts.of(name, handler)];
    }
  }
  const others = new Float64Array(size);
  let isAny = false;
  for (const [service, handler, numbers] of counts) {
    if (known.get(service)?.has(handler)) continue;
    isAny = true;
    for (const [i, count] of numbers.entries()) others[i] = (others[i] ?? 0) + count;
  }
  if (isAny) yield [{ service: UNREGISTERED, handler: UNREGISTERED }, others];
}
