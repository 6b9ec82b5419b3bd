import type { ObjectName } from "./target.ts";

/** The name of a durable promise, and what may be known of its workflow. */
export interface PromiseName {
  readonly object: ObjectName;
  readonly name: string;
  /** The id of the run of the workflow (`subject.ts`). */
  readonly run: string;
}

/** What became of a promise: `unknown` if neither it nor a run of its workflow is known. */
export type PromiseTaken = "done" | "completed" | "unknown";
