import type { QueryLimits, QueryRequest } from "../../../src/introspection/request.ts";
import type { UnreadableRow } from "../../../src/introspection/unreadable.ts";

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

/** What a query process is told first. */
export interface QueryData {
  /**
   * The databases whose rows are united, at least one. What an installation has once, its deployments,
   * is in the first. A single file is read where it is; of anything else, rows are copied.
   */
  readonly databases: readonly QueryAddress[];
  readonly limits: QueryLimits;
}

/**
 * From the server, as JSON. Each is answered once before the next one is sent. `next`: after each part
 * of an answer, when there is room for another.
 */
export type Ask =
  | { readonly kind: "open"; readonly data: QueryData }
  | { readonly kind: "query"; readonly request: QueryRequest }
  | { readonly kind: "next" };

/** From a query process, as JSON, but for `part`, which is its bytes. */
export type QueryResponse =
  | { readonly kind: "ready" }
  | { readonly kind: "part"; readonly bytes: Uint8Array }
  | { readonly kind: "end" }
  | {
    readonly kind: "failed";
    readonly status: number;
    readonly message: string;
    /** A stack, when it is a fault of ours. */
    readonly bug?: string;
    /** What a database elsewhere had to say. For the log: it names the database. */
    readonly cause?: string;
  };

/** From a query process, unasked, while it works. */
export type Report =
  | {
    readonly kind: "report";
    /** Memory of the process. */
    readonly residentBytes: number;
  }
  | { readonly kind: "unreadable"; readonly row: UnreadableRow }
  /** As in `Query`. */
  | { readonly kind: "warning"; readonly text: string };
