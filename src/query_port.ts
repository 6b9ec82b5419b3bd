/**
 * Answers queries of operators in SQL (docs/spec/queries.md#statements). An expensive query delays
 * no other request.
 */
export interface Introspection {
  /**
   * The answer, part by part as it is read. Rejects with a `Failure` before the first part; what goes
   * wrong later ends the stream with an error.
   */
  query(query: Query): Promise<ReadableStream<Uint8Array>>;
  /** Queries are likely soon: what has to be started for them starts now. */
  prepare?(): void;
  close(): Promise<void>;
}

export interface Query {
  /** One statement. */
  readonly sql: string;
  readonly format: "json" | "arrow";
  /** Our own version. */
  readonly version: string;
  /** Attempts that run at this moment, which is in no row. */
  readonly running: readonly RunningAttempt[];
  /** Is called before the answer with what the statement most likely does not mean: printable ASCII. */
  readonly warn?: (warning: string) => void;
}

export interface RunningAttempt {
  /** Of its invocation. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly deployment: string;
  /** Name and version of the SDK, once it has answered. */
  readonly server?: string;
  /** Milliseconds that it waited for a slot. Absent: a slot was free. */
  readonly waitedMs?: number;
}
