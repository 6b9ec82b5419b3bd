import type { AttemptFailure, Caller, InvocationRow } from "./invocation.ts";
import type { Entry, Result } from "./journal.ts";
import type { RecordSource } from "./kafka.ts";
import type { Message } from "./message.ts";

/**
 * Every durable row of a partition. The engine reads and writes nothing else. A row is named by
 * its *group*, the rows that are loaded and evicted together, and its *item* within the group.
 */
export interface Rows {
  /** group: invocation id. item: "". */
  readonly invocation: InvocationRow;
  /** group: invocation id. item: journal index. */
  readonly journal: {
    readonly id: string;
    readonly index: number;
    readonly at: number;
    readonly entry: Entry;
  };
  /**
   * group: invocation id. item: seq. A failure or pause of an invocation, for operators
   * (docs/spec/queries.md#tables). The engine never reads it: `InvocationRow.events` tells which
   * rows exist.
   */
  readonly event: {
    readonly id: string;
    readonly seq: number;
    readonly at: number;
    /** How many entries the journal had. */
    readonly after: number;
    /** Attempts of the invocation that had failed by then, this one included. Absent: none. */
    readonly failed?: number | undefined;
    /** An attempt failed and is retried, or: no attempt until the invocation is resumed. */
    readonly kind: "transientError" | "paused";
    /** Absent: a pause without a failure. */
    readonly failure?: AttemptFailure | undefined;
  };
  /** group: object (`objectOf`). item: "". Present while an invocation holds the lock. */
  readonly lock: {
    readonly object: string;
    readonly holder: string;
    /** Inbox rows: the next to serve, and the next to write. Equal when none waits. */
    readonly head: number;
    readonly tail: number;
  };
  /** group: object. item: seq. An invocation that waits for the lock, or (`id` empty) a state edit. */
  readonly inbox: {
    readonly object: string;
    readonly seq: number;
    readonly id: string;
    /** As `printStateEdit` makes it. */
    readonly edit?: string | undefined;
  };
  /** group: object. item: name. */
  readonly state: { readonly object: string; readonly name: string; readonly value: Uint8Array };
  /**
   * group: workflow (`objectOf`). item: name. A durable promise: its result, or (without one)
   * the commands that wait for it (docs/spec/service-protocol.md#promises).
   */
  readonly promise: {
    readonly object: string;
    readonly name: string;
    readonly result?: Result | undefined;
    readonly listeners: readonly Caller[];
  };
  /** group: invocation id. item: `timerItem`. Due at `due`, in milliseconds since the epoch. */
  readonly timer: Timer;
  /**
   * group: `peerOf`. item: seq. A message for another partition, until that one acknowledges it.
   * The engine never reads it.
   */
  readonly outbox: {
    readonly from: number;
    readonly to: number;
    readonly seq: number;
    readonly message: Message;
  };
  /** group: `peerOf`. item: "". The message counters of one partition for another one. */
  readonly peer: {
    readonly from: number;
    readonly to: number;
    /** Number of the last message that `from` wrote for `to`, and of the last one it applied of `to`. */
    readonly sent: number;
    readonly heard: number;
  };
  /**
   * group: counter (`engine/flow/counters.ts`). item: "". A token bucket that is not full: what it had at
   * `at`, in millionths of a token, and when it is full again. Times are milliseconds since the epoch.
   */
  readonly bucket: {
    readonly counter: string;
    readonly tokens: number;
    readonly at: number;
    readonly fullAt: number;
  };
  /**
   * group: `shareOf`. item: "". What a partition has of a counter that all partitions share
   * (decision 051).
   */
  readonly share: {
    readonly partition: number;
    readonly counter: string;
    /** Invocations that it may have running at once, … */
    readonly slots: number;
    /** … and how many more it may start. */
    readonly starts: number;
    /** It has asked the home of the counter for more, and has no answer yet. */
    readonly asksSlots: boolean;
    readonly asksStarts: boolean;
    /** Other partitions wait for slots: it gives back each one that it does not use. */
    readonly isWanted: boolean;
    /** The `tightenedAt` of the limits that it was last counted under. Absent: 0. */
    readonly since?: number;
  };
  /** group: counter. item: "". Who has slots of a shared counter: only its home has this row. */
  readonly bank: {
    readonly counter: string;
    /** Slots by partition. */
    readonly given: Readonly<Record<number, number>>;
    /** What partitions have asked for, in order. Each is here once at most. */
    readonly waiting: readonly ShareRequest[];
    /** Partitions that know that their slots are wanted. */
    readonly told: readonly number[];
    /** All partitions have counted what they run under limits of this `tightenedAt`. Absent: 0. */
    readonly since?: number;
    /** Those that have done so under later limits, and under which. Absent: none. */
    readonly counted?: Readonly<Record<number, number>>;
    /** The `limitedAt` of the limits for which the others were last asked to. Absent: 0. */
    readonly asked?: number;
  };
  /**
   * group: `sourceOf`. item: "". How far the records of a partition of a topic have become invocations
   * (decision 052). Offsets of rows are never lowered.
   */
  readonly source: {
    /** The partition of ours that has the row: each has its own. */
    readonly home: number;
    readonly source: RecordSource;
    /** Records of this home with smaller offsets have been taken. */
    readonly next: number;
    /** Records with smaller offsets have been taken, whatever their home is. */
    readonly settled: number;
    /**
     * Partitions that had a part of the batch that ends at `next`. Once so many have come to `next`, and
     * none is beyond, all before it have been taken. Absent: unknown, since batches were under way
     * before that one, or it was not taken whole.
     */
    readonly homes?: number;
    /**
     * Of earlier layouts, each `next` by partition: a record may have been taken by the home that it had
     * then. Absent: there was none, or `next` is beyond all of these.
     */
    readonly earlier?: readonly (readonly number[])[];
  };
}

/** What a partition asks for: slots, and starts that a rate allows. */
export interface ShareRequest {
  readonly from: number;
  readonly slots: number;
  readonly starts: number;
}

/** The group of what a partition has of a counter. */
export function shareOf(
  { partition, counter }: { readonly partition: number; readonly counter: string },
): string {
  return `${partition}/${counter}`;
}

/**
 * The group of how far a partition of ours has taken records. Ids of subscriptions and names of topics
 * have no slash.
 */
export function sourceOf({ home, source }: Pick<Rows["source"], "home" | "source">): string {
  const { subscription, partition, topic, group } = source;
  return `${home}/${subscription}/${partition}/${topic}/${group}`;
}

/** The group of the messages and counters of partition `from` for partition `to`. */
export function peerOf({ from, to }: { readonly from: number; readonly to: number }): string {
  return `${from}/${to}`;
}

/** `start`: a delayed send is due. `retry`: a back-off is over. `sleep`: completes `index`. */
export interface Timer {
  readonly id: string;
  readonly due: number;
  readonly kind: "start" | "retry" | "sleep";
  /** The completion id of a sleep; 0 otherwise. */
  readonly index: number;
}

export type Table = keyof Rows;
export type Item = string | number;

export const TABLES = [
  "invocation",
  "journal",
  "event",
  "lock",
  "inbox",
  "state",
  "promise",
  "timer",
  "outbox",
  "peer",
  "bucket",
  "share",
  "bank",
  "source",
] as const;

export function timerItem({ due, kind, index }: Omit<Timer, "id">): string {
  return `${due}/${kind}/${index}`;
}

/** The group a row belongs to. */
export function groupOf<T extends Table>(table: T, row: Rows[T]): string {
  switch (table) {
    case "invocation":
    case "journal":
    case "event":
    case "timer":
      return (row as Rows["journal"]).id;
    case "outbox":
    case "peer":
      return peerOf(row as Rows["peer"]);
    case "bucket":
    case "bank":
      return (row as Rows["bucket"]).counter;
    case "share":
      return shareOf(row as Rows["share"]);
    case "source":
      return sourceOf(row as Rows["source"]);
    default:
      return (row as Rows["lock"]).object;
  }
}

/** The row's name within its group. */
export function itemOf<T extends Table>(table: T, row: Rows[T]): Item {
  switch (table) {
    case "journal":
      return (row as Rows["journal"]).index;
    case "event":
    case "inbox":
    case "outbox":
      return (row as Rows["inbox"]).seq;
    case "state":
    case "promise":
      return (row as Rows["state"]).name;
    case "timer":
      return timerItem(row as Timer);
    default:
      return "";
  }
}

/** One change of one row. Within a batch a later write of the same row wins. */
export interface Write<T extends Table = Table> {
  readonly table: T;
  readonly row: Rows[T];
  readonly drop: boolean;
}

/** Rows to read: one (`item` given), or the whole group. */
export interface Want {
  readonly table: Table;
  readonly group: string;
  readonly item?: Item;
}
