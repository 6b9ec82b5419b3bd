import type { Dial } from "./dial.ts";
import { Failure } from "./errors.ts";
import type { Changes } from "./model/changes.ts";
import type { Reply } from "./engine/effect.ts";
import type { Event, Operation, RecordPart } from "./engine/event.ts";
import type { Signal } from "./model/command.ts";
import type { InvocationRow } from "./model/invocation.ts";
import type { Result } from "./model/journal.ts";
import type { LetterRef, OwedLetter } from "./model/kafka.ts";
import type { ControlsChange, StoredControls } from "./model/controls.ts";
import type { Invoked, Message } from "./model/message.ts";
import type { Rows, Table, Want, Write } from "./model/rows.ts";
import type { PromiseName, PromiseTaken } from "./model/promise.ts";
import type { Deployment } from "./model/schema.ts";
import type { Scan, ScanRow } from "./scan.ts";
import type { StateEdit } from "./model/state_edit.ts";
import type { ObjectName, Target } from "./model/target.ts";
import type { Vitals } from "./vitals.ts";

/** What a platform provides to the core. Everything else that the core needs is Fetch API. */
export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly dial: Dial;
  /** Measurements of the process, where the platform has any. */
  readonly vitals?: () => Vitals;
  /** Measures repeatedly how late the event loop runs a timer. Returns a function that stops it. */
  readonly watchLoop?: (late: (ms: number) => void) => () => void;
}

/**
 * How long a wait goes on at most without reading the clock, in milliseconds. A timer of a platform
 * does not notice that the wall clock was set or that the machine slept, so this bounds how late a
 * clock that jumped forward is noticed.
 */
export const CLOCK_LOOK_MS = 4_000;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once, not before `due`. Reads the clock every `CLOCK_LOOK_MS`. Returns a function
   * that cancels it.
   */
  at(due: number, call: () => void): () => void;
  /** Calls back once this burst of input has been handled: what groups events into turns. */
  soon(call: () => void): void;
}

/** Time that only ever goes forward, whatever is done to the wall clock: for how long things take. */
export interface Stopwatch {
  /** Milliseconds since any moment, with fractions. Goes on while the process is stopped. */
  now(): number;
  /** Calls back once, after `ms` milliseconds or later. Returns a function that cancels it. */
  after(ms: number, call: () => void): () => void;
}

/** `size` unpredictable bytes. */
export type Random = (size: number) => Uint8Array;

export type LogLevel = "debug" | "info" | "warn" | "error";

/** One record. Field values survive `JSON.stringify`; never a token or a body. */
export type Log = (level: LogLevel, message: string, fields?: Record<string, unknown>) => void;

/**
 * Durable rows of one partition. Implementations must be indistinguishable from
 * `storage/memory_store.ts`: `test/storage/_contract.ts` is the definition.
 *
 * `load` and `scan` answer as if every commit handed over before them had been applied. Commits
 * are applied in the order they are handed over; once one is rejected, so are all later ones.
 */
export interface Store {
  /** Takes a partition over: raises its epoch durably, so no earlier owner can commit any more. */
  claim(partition: number): Promise<Lease>;
  /**
   * One round trip. Answers in the order of `wants`. `rows` of a group are sorted by item. Rejects with
   * `Unreadable` when one of them cannot be decoded.
   */
  load(lease: Lease, wants: readonly Want[]): Promise<readonly Loaded[]>;
  /** One round trip, all or nothing. Rejects with `Fenced` when a newer lease was claimed. */
  commit(lease: Lease, writes: readonly Write[]): Promise<void>;
  /**
   * Makes bytes of `stagedBytesMin` and more durable ahead of the commit that holds views of them, which
   * is then as quick as others. Answers what must be called once that commit is durable.
   */
  stage?(lease: Lease, bytes: Uint8Array): Promise<() => void>;
  readonly stagedBytesMin?: number | undefined;
  scan<Q extends Scan>(lease: Lease, scan: Q): Promise<readonly ScanRow<Q>[]>;
  /** As `scan`, for metrics: the status of every invocation, in order of ids. */
  scanStatuses?(lease: Lease, page: StatusPage): Promise<readonly InvocationStatus[]>;
  /** The rows that are committed and not in the tables yet, where a store has such rows. */
  backlog?(lease: Lease): Backlog;
  close(): Promise<void>;
}

/** What a load found. */
export interface Loaded {
  readonly want: Want;
  readonly rows: readonly Rows[Table][];
  /**
   * In place of `rows` of a large group: all of its rows, in no order. A page is decoded when it is
   * taken, and that throws `Unreadable` where `load` would reject.
   */
  readonly pages?: Iterable<readonly Rows[Table][]>;
}

/** The right to write a partition. A higher epoch ends every lower one. */
export interface Lease {
  readonly partition: number;
  readonly epoch: number;
}

export interface StatusPage {
  /** The id of the last one of the page before (exclusive). */
  readonly after?: string;
  readonly limit: number;
}

/** The status of one invocation. */
export interface InvocationStatus {
  readonly id: string;
  readonly service: string;
  readonly handler: string;
  readonly status: InvocationRow["status"]["kind"];
}

export interface Backlog {
  readonly rows: number;
  readonly bytes: number;
}

/** Another owner has taken this partition over. Stop; do not retry. */
export class Fenced extends Error {
  override name = "Fenced";
}

/**
 * A cause in words that untrusted clients may read: what a `Failure` says, or else at most the code of an
 * error. Other words may hold the address of a database, or a path.
 */
export function publicCause(cause: unknown): string {
  if (cause instanceof Failure) return cause.message;
  if (cause instanceof Fenced) return "another process has claimed the partition";
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string"
    ? `the database reports ${code}`
    : "an error that is in the log of the server";
}

export interface Statement {
  readonly sql: string;
  /** Named by position. Integers beyond 2^53 do not occur. */
  readonly args: readonly SqlValue[];
  /** Reads rows by a few keys, or is a part of a commit: mostly as cheap as passing it to a worker. */
  readonly isQuick?: boolean;
}

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;
type SqlRows = readonly SqlRow[][];
type BatchMode = "read" | "write";

/** All a database has to be: one atomic batch per call, rows back in the order of statements. */
export interface SqlClient {
  /** `isLazy`: loss of power may undo the write, which can be done again, until another resolves. */
  batch(mode: BatchMode, statements: readonly Statement[], isLazy?: boolean): Promise<SqlRows>;
  /** Whether this error says that a `check` refused the batch. */
  isRefused(cause: unknown): boolean;
  /**
   * Whether this error leaves open if the batch was applied, or will be (a lost connection, a
   * timeout), or says that there was no time for it. Absent: this database loses nothing.
   */
  isLost?(cause: unknown): boolean;
  close(): Promise<void>;
}

/** Another process has changed the registered deployments or the controls since they were loaded. */
export class Outdated extends Error {
  override name = "Outdated";
}

/** Everything that operators have set: what is registered, limited and paused. */
export interface Catalog {
  readonly deployments: readonly Deployment[];
  readonly controls: StoredControls;
}

/** Registered deployments, and what operators have limited and paused. Saved rarely, loaded whole at boot. */
export interface DeploymentStore {
  /**
   * Where several may write: grows with every change, as of the last `load` or change. A change is
   * rejected with `Outdated` when another process has changed anything since.
   */
  readonly version?: number | undefined;
  load(): Promise<Catalog>;
  /**
   * Replaces a deployment with the same id, and changes controls with it. Durable when it resolves; all
   * of it is applied, or nothing.
   */
  save(deployment: Deployment, controls?: ControlsChange): Promise<void>;
  /** Removes a deployment, and whether it is paused. */
  drop(id: string): Promise<void>;
  /** Applies all of a change, or nothing. Durable when it resolves. */
  control(change: ControlsChange): Promise<void>;
}

/** What ingress needs of the partitions. Every rejection is a `Failure` of status 503. */
export interface Invocations {
  /** Resolves once the invocation is durable. */
  send(request: InvocationRequest): Promise<Accepted>;
  /** Resolves with its result. When the caller leaves, the wait ends; the invocation goes on. */
  call(request: InvocationRequest, onLeave?: OnLeave): Promise<Completed>;
  /** The result of an invocation, once it has one. Undefined: there is no such invocation. */
  attach(id: string, onLeave?: OnLeave): Promise<Attached | undefined>;
  /** The result of an invocation, if it has one. */
  output(id: string): Promise<Attached | "unknown" | "notReady">;
  /** Resolves once the signal is durable. For an unknown invocation there is nothing to do. */
  signal(signal: Signal): Promise<void>;
  /** Resolves once it is durable that an object gets this state, now or when it is free. */
  editState(object: ObjectName, edit: StateEdit): Promise<void>;
  /** Completes a durable promise of a workflow, unless it is completed. Resolves once that is durable. */
  completePromise(promise: PromiseName, result: Result): Promise<PromiseTaken>;
  /** Carries out an operation of an operator (docs/spec/admin.md#operations-on-invocations). */
  operate(id: string, operation: Operation): Promise<Operated>;
}

/** A partition, as the others reach it: here, in another process, or in an object of its own. */
export interface PartitionClient extends Invocations {
  /** Takes messages of another partition. Answers the last one it has, once that is durable. */
  deliver(batch: OutboxBatch): Promise<number>;
  /** Has records of Kafka invoke handlers, each once, however often they come (decision 052). */
  ingest(part: RecordPart): Promise<PartTaken>;
  /** Notes dead letters that are written, and hands out some that are owed (decision 053). */
  letters(request: LettersRequest): Promise<readonly OwedLetter[]>;
  /** What commits have changed after `cursor`, of an earlier answer; waits some seconds for a change. */
  changes(cursor: string | undefined, onLeave?: OnLeave): Promise<Changes>;
}

export interface LettersRequest {
  readonly written: readonly LetterRef[];
  /** Letters that cannot be written now: they are handed out again. */
  readonly returned: readonly LetterRef[];
  /** No more letters once their values have so many bytes: the last one may be larger. */
  readonly bytesMax: number;
}

/** How a part of a batch was taken. All of its records before `next` are durable. */
export interface PartTaken {
  readonly next: number;
  /** As many invocations of the subscription wait here as may: the record at `next` was not taken. */
  readonly isFull?: boolean;
  /** The record at `next` was not taken, since a stored row that it needs is damaged, and which one. */
  readonly damage?: string;
  /** Records that had been taken before, and were dropped. Absent: none. */
  readonly replays?: number;
  /** Of a part without records: `settled` and `homes` of the row of the source (`model/rows.ts`). */
  readonly settled?: number;
  readonly homes?: number;
}

/** Messages of one partition for another one, in their order. */
export interface OutboxBatch {
  readonly from: number;
  /** The number of the first one. */
  readonly first: number;
  readonly messages: readonly Message[];
}

/** The result of an invocation that another request began. */
export interface Attached extends Completed {
  /** What it ran: its declared output says how to answer. */
  readonly target: Target;
}

/** How an operation was taken. `id`: of the invocation, or of the new one after a restart. */
export type Operated = Pick<Reply, "id" | "status" | "target" | "pin">;

/** Has a function called once if the caller goes away. Maybe also after it was answered. */
export type OnLeave = (leave: () => void) => void;

export type InvocationRequest = Omit<Invoked, "type" | "reply">;

export interface Accepted {
  readonly id: string;
  readonly status: "accepted" | "previouslyAccepted";
  /** Start of a delayed send, in milliseconds since the epoch. */
  readonly startAt?: number;
}

export interface Completed {
  readonly result: Result;
  /** Set when the answer comes from a stored completion. Milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** Takes the events of attempts. `durable` is called once the event's turn is on disk. */
export type Mailbox = (event: Event, durable?: () => void) => void;
