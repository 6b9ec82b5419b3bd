import type { QueryLimits, QueryRequest } from "../src/introspection/request.ts";

/** Where stored rows are. */
export type QueryAddress =
  | {
    readonly kind: "file";
    /** `file:` with a path. */
    readonly url: string;
  }
  | {
    readonly kind: "server";
    /** `https:` or `http:`, without any secret. */
    readonly url: string;
    /** Empty: the server wants none. */
    readonly authToken: string;
    /** How long it may take for an answer. */
    readonly timeoutMs: number;
  };

/** What the query thread is started with. */
export interface ThreadData {
  /**
   * The databases whose rows are united, at least one. What an installation has once, its deployments,
   * is in the first. A single file is read where it is; of anything else, rows are copied.
   */
  readonly databases: readonly QueryAddress[];
  readonly limits: QueryLimits;
}

/** From the main thread. `next`: after each part, when there is room for another. */
export type Ask =
  | { readonly id: number; readonly kind: "query"; readonly request: QueryRequest }
  | { readonly id: number; readonly kind: "next" }
  | { readonly id: number; readonly kind: "cancel" };

/** From the query thread: one for a query, and for each `next`. */
export type Answer =
  | { readonly id: number; readonly kind: "part"; readonly bytes: Uint8Array }
  | { readonly id: number; readonly kind: "end" }
  | {
    readonly id: number;
    readonly kind: "failed";
    readonly status: number;
    readonly message: string;
    /** A stack, when it is a fault of ours. */
    readonly bug?: string;
    /** What a database elsewhere had to say. For the log: it names the database. */
    readonly cause?: string;
  };
