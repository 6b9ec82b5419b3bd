import type { SubscriptionReport } from "./model/kafka.ts";

/**
 * What the processes of an installation share about sidecars: their last reports, and the token that
 * they show. Losing reports does no harm.
 */
export interface KafkaStore {
  /** The token that is kept with the data. `fresh` becomes it if there is none. */
  token(fresh: string): Promise<string>;
  /** What sidecars have reported. `subscription`: of that one only. */
  reports(subscription?: string): Promise<readonly MemberReport[]>;
  /**
   * Replaces all that is stored of a sidecar, and its time. Sidecars that were last heard of before
   * `forgottenAt`, in milliseconds since the epoch, are forgotten.
   */
  save(
    member: string,
    reports: { readonly all: readonly SubscriptionReport[]; readonly at: number },
    forgottenAt: number,
  ): Promise<void>;
}

/** What a sidecar has reported of a subscription. */
export interface MemberReport {
  readonly member: string;
  /** When the sidecar was last heard of, in milliseconds since the epoch. */
  readonly at: number;
  readonly report: SubscriptionReport;
}
