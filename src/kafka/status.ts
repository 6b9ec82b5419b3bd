import type { MemberReport } from "../kafka_port.ts";
import type { PartitionReport, Subscription, SubscriptionState } from "../model/kafka.ts";
import { REPORT_MS } from "../model/kafka.ts";

/** How a subscription is, by what all sidecars report of it. */
export interface SubscriptionStatus {
  readonly state: SubscriptionState;
  readonly lastError?: { readonly message: string; readonly at: number };
  /** In order of topic and partition. Without a living sidecar: as last reported. */
  readonly partitions: readonly PartitionReport[];
}

/** A sidecar that reported longer ago than this, in milliseconds, counts as gone. */
export const GONE_MS = 6 * REPORT_MS;

/** The first of these that a sidecar reports is the state. */
const WORST_FIRST: readonly SubscriptionState[] = ["blocked", "failing", "running", "starting"];

/**
 * The status of a subscription (docs/kafka.md). `isLost`: its cluster does not exist. `reports`: at most
 * one of each sidecar. `now`: milliseconds since the epoch.
 */
export function statusOf(
  subscription: Pick<Subscription, "paused" | "createdAt">,
  { reports, isLost, now }: {
    readonly reports: readonly MemberReport[];
    readonly isLost: boolean;
    readonly now: number;
  },
): SubscriptionStatus {
  const living = reports.filter(({ at }) => at > now - GONE_MS);
  const partitions = partitionsOf(living.length > 0 ? living : reports);
  const heardAt = Math.max(subscription.createdAt, ...reports.map(({ at }) => at));
  const reported = lastErrorOf(reports);
  const with_ = (state: SubscriptionState, message?: string): SubscriptionStatus => {
    const lastError = message === undefined ? reported : { message, at: heardAt };
    return { state, ...(lastError && { lastError }), partitions };
  };
  if (subscription.paused) return with_("paused");
  if (isLost) return with_("failing", LOST);
  if (living.length > 0) return with_(worstOf(living));
  return heardAt > now - GONE_MS && reports.length === 0
    ? with_("starting")
    : with_("failing", GONE);
}

/** The cluster of a subscription does not exist. */
export const LOST = "the Kafka cluster of its source does not exist";
/** No sidecar lives. */
export const GONE = "no Kafka sidecar has reported since then; start one, or look at its log";

function worstOf(living: readonly MemberReport[]): SubscriptionState {
  const states = living.map(({ report }) => report.state);
  return WORST_FIRST.find((state) => states.includes(state)) ?? "starting";
}

function lastErrorOf(reports: readonly MemberReport[]) {
  return reports.map(({ report }) => report.lastError)
    .reduce((last, one) => one && (!last || one.at > last.at) ? one : last, undefined);
}

/** Of several sidecars that report a partition, which happens while it moves, the last one counts. */
function partitionsOf(reports: readonly MemberReport[]): PartitionReport[] {
  const found = new Map<string, PartitionReport>();
  for (const { report } of [...reports].sort((a, b) => a.at - b.at)) {
    for (const one of report.partitions) found.set(`${one.topic}/${one.partition}`, one);
  }
  return [...found.values()].sort((a, b) =>
    a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1
  );
}
