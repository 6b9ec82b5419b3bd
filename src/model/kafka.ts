/** A Kafka cluster, as operators have set it. */
export interface KafkaCluster {
  readonly name: string;
  /** Options of the client, by the names that librdkafka gives them. Secrets are in clear. */
  readonly properties: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Records of a topic become invocations of a handler. */
export interface Subscription {
  /** `sub_1` and 22 digits. */
  readonly id: string;
  /** `kafka://CLUSTER/TOPIC`. */
  readonly source: string;
  /** `service://SERVICE/HANDLER`. */
  readonly sink: string;
  /** As given, and always `group.id`. Secrets are in clear. */
  readonly options: Readonly<Record<string, string>>;
  /** Nothing is consumed. */
  readonly paused?: true;
  /** Records to pass over when they are next, whatever is wrong with them: at most one of a partition. */
  readonly skips?: readonly RecordPlace[];
  /**
   * An operator has deleted it together with its consumer group. Nothing is consumed, and nothing shows
   * it; it is gone once a sidecar has deleted the group and reports so (`SidecarReport`).
   */
  readonly isLeaving?: true;
  readonly createdAt: number;
}

const DEAD_LETTER = "dead-letter:";

/** The topic of `on.poison = dead-letter:TOPIC`. Undefined: the options name none. */
export function deadLetterTopicOf(options: Subscription["options"]): string | undefined {
  const rule = options["on.poison"];
  return rule?.startsWith(DEAD_LETTER) ? rule.slice(DEAD_LETTER.length) : undefined;
}

/** Whether records whose attempts are used up go to a dead letter topic. */
export function hasLetters(options: Subscription["options"]): boolean {
  return options["max.attempts"] !== undefined && deadLetterTopicOf(options) !== undefined;
}

/** One record of a topic. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** Where records come from: what deduplication is about, with the offset. */
export interface RecordSource {
  /** The id of the subscription. */
  readonly subscription: string;
  /** The consumer group. */
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
}

/** A record that becomes an invocation. */
export interface IngestRecord {
  /** At most 2^53 - 1. */
  readonly offset: number;
  /** As the record has it, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** Undefined: the record has none. */
  readonly key: Uint8Array | undefined;
  /**
   * The key of the object or workflow, by `key.encoding`. Undefined: the text of `key`, or the empty
   * text if there is none.
   */
  readonly objectKey: string | undefined;
  /** Undefined: a tombstone. */
  readonly value: Uint8Array | undefined;
  /** What the handler gets beside the headers that describe the record; names are in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Of the headers of the record, where flow control takes them from there. */
  readonly scope: string | undefined;
  readonly limitKey: string | undefined;
  readonly traceparent: string | undefined;
}

/** Records of one partition of a topic, in their order. */
export interface RecordBatch extends RecordSource {
  /** The offset after all that is done with this batch: it may end with records that are skipped. */
  readonly next: number;
  /** Their offsets grow. */
  readonly records: readonly IngestRecord[];
}

/** How a batch was taken. All records before `next` are durable. */
export interface Ingested {
  readonly next: number;
  /** The record at `next` cannot become an invocation, and why. */
  readonly poison?: { readonly message: string };
  /** As many invocations of the subscription wait as may: the rest is to be sent again later. */
  readonly isFull?: boolean;
}

/** An invocation whose record is to be written to a dead letter topic, and since which attempt. */
export interface LetterRef {
  /** The id of the invocation. */
  readonly id: string;
  /** The last one that failed. An operator may resume the invocation, which then owes another letter. */
  readonly attempt: number;
}

/** What a dead letter is made of: the input of the invocation that has used up its attempts. */
export interface OwedLetter extends LetterRef {
  /** The id of the subscription. */
  readonly subscription: string;
  /** When the last attempt failed, in milliseconds since the epoch. */
  readonly at: number;
  /** How it failed. */
  readonly reason: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly value: Uint8Array;
}

/** What the sidecar needs to know: all clusters and subscriptions, with secrets in clear. */
export interface KafkaPlan {
  /** Differs whenever anything of it does. */
  readonly version: string;
  /** Whether headers of records may set scopes and limit keys. */
  readonly isScopeRead?: boolean;
  readonly clusters: readonly KafkaCluster[];
  readonly subscriptions: readonly PlannedSubscription[];
}

export interface PlannedSubscription extends Subscription {
  /** What the sink is. Absent: it is not registered now. */
  readonly sinkType?: "service" | "virtualObject" | "workflow";
}

/**
 * What a sidecar says of itself: the body of its reports, as JSON. It reports when something changes, and
 * in any case every `REPORT_MS`.
 */
export interface SidecarReport {
  /** Names the sidecar, which is one of several maybe: up to 100 characters. */
  readonly member: string;
  /** All that it consumes, or tries to. */
  readonly subscriptions: readonly SubscriptionReport[];
  /** Ids of subscriptions that are leaving, whose groups are deleted or were not there. */
  readonly groupsDeleted?: readonly string[];
  /** Subscriptions that are leaving, whose groups it has tried in vain to delete. */
  readonly groupsKept?: readonly KeptGroup[];
}

/** Why the consumer group of a subscription that is leaving is not deleted. */
export interface KeptGroup {
  /** The id of the subscription. */
  readonly id: string;
  readonly message: string;
}

/** The longest time between two reports of a sidecar, in milliseconds. */
export const REPORT_MS = 5_000;

/** What the sidecar says of a subscription. */
export interface SubscriptionReport {
  /** The id of the subscription. */
  readonly id: string;
  readonly state: SubscriptionState;
  readonly lastError?: { readonly message: string; readonly at: number };
  /** Commits of offsets that have failed since the last report that was heard. Absent: none. */
  readonly commitFailures?: number;
  /** Partitions that this sidecar has been assigned. */
  readonly partitions: readonly PartitionReport[];
}

/**
 * `starting`: it joins its group. `running`: all assigned partitions move. `paused`: by an operator.
 * `blocked`: some partition waits at a record that cannot be delivered. `failing`: nothing can be
 * consumed; it is tried again.
 */
export type SubscriptionState = "starting" | "running" | "paused" | "blocked" | "failing";

export interface PartitionReport {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to read. Undefined: unknown yet. */
  readonly position?: number;
  /** The end of the partition. Undefined: unknown yet. */
  readonly end?: number;
  /** It stands at `position`, since that record cannot be delivered, or the inbox is full. */
  readonly stoppedBy?: { readonly kind: "poison" | "inbox"; readonly message: string };
}

/** Records between the position and the end of a partition. Undefined: unknown yet. */
export function lagOf({ position, end }: PartitionReport): number | undefined {
  return position === undefined || end === undefined ? undefined : Math.max(0, end - position);
}
