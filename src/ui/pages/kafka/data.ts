import type { Int } from "../../data/json.ts";
import { sql } from "../../data/sql.ts";
import type { Properties } from "./properties.tsx";

/** Partitions that are read, those with most lag first. */
export const PARTITIONS_MAX = 1_000;

export interface Cluster {
  readonly name: string;
  /** Secrets are `***`. */
  readonly properties: Properties;
  readonly created_at?: string;
}

export interface Subscription {
  readonly id: string;
  readonly source: string;
  readonly sink: string;
  /** Secrets are `***`. */
  readonly options: Properties;
}

/** How a subscription is. */
export interface StateRow {
  readonly id: string;
  readonly state: string;
  readonly paused: boolean;
  readonly last_error?: string;
  readonly last_error_at?: string;
}

export const STATES = sql`SELECT id, state, paused, last_error, last_error_at
  FROM sys_subscription`;

/** How far a partition of a topic is. */
export interface PartitionRow {
  readonly subscription_id: string;
  readonly topic: string;
  readonly partition: Int;
  readonly position?: Int;
  readonly end_offset?: Int;
  readonly lag?: Int;
  readonly stopped_by?: string;
  readonly stopped_message?: string;
  readonly sidecar?: string;
  readonly reported_at?: string;
}

export const PARTITIONS = sql`SELECT subscription_id, topic, partition, position, end_offset, lag,
  stopped_by, stopped_message, sidecar, reported_at FROM sys_subscription_partition
  ORDER BY lag DESC, topic, partition LIMIT ${PARTITIONS_MAX}`;
