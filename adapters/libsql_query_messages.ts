import type { QueryLimits, QueryRequest } from "../src/introspection/request.ts";

/** What the query thread is started with. */
export interface ThreadData {
  /** Of the database file. */
  readonly url: string;
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
  };
