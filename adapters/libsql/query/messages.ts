import type { QueryLimits, QueryRequest } from "../../../src/introspection/request.ts";
import type { UnreadableRow } from "../../../src/introspection/unreadable.ts";

/** A database file. */
export interface FileAddress {
  readonly kind: "file";
  /** `file:` with a path. */
  readonly url: string;
  /** Of `FolderKey`. Absent: it is not encrypted. */
  readonly databaseKey?: string | undefined;
}

/** Where stored rows are. */
export type QueryAddress =
  | FileAddress
  | {
    readonly kind: "server";
    /** `https:` or `http:`, without any secret. */
    readonly url: string;
    /** Empty: the server needs none. */
    readonly authToken: string;
    /** How long a response may take. */
    readonly timeoutMs: number;
  };

/** The first message to a query process. */
export interface QueryData {
  /**
   * The databases whose rows are united, at least one. The deployments of an installation are in the
   * first one only. A single file is read in place; otherwise, rows are copied.
   */
  readonly databases: readonly QueryAddress[];
  readonly limits: QueryLimits;
}

/**
 * From the server, as JSON. Each is answered once before the next one is sent. `next`: requests the
 * next part of the result, when the reader has taken the one before.
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
    /** The stack, when it is a bug. */
    readonly bug?: string;
    /** The error of a database server. For the log only: it names the database. */
    readonly cause?: string;
  };

/** From a query process, at any time during a query. */
export type Report =
  | {
    readonly kind: "report";
    /** Memory of the process. */
    readonly residentBytes: number;
  }
  | { readonly kind: "unreadable"; readonly row: UnreadableRow }
  /** As in `Query`. */
  | { readonly kind: "warning"; readonly text: string };
