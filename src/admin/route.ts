import type { Struct } from "superstruct";
import type { Level } from "../auth/grants.ts";
import type { AuditedCall } from "./audit/audited_call.ts";
import { readBody, readItems } from "./body.ts";
import type { Json } from "./json.ts";
import type { Parameter } from "./parameter.ts";
import { listOf } from "./shapes.ts";
import type { UnknownNames } from "./unknown_names.ts";

/** One admin request on its way to a handler. The router fills in `params`, decoded. */
export interface Call {
  readonly method: string;
  /** Without the prefix of an API version. */
  readonly url: string;
  readonly apiVersion: number;
  readonly request: Request;
  /** The largest body that is read. */
  readonly bodyBytesMax: number;
  /** Records names that nothing reads. */
  readonly unknown: UnknownNames;
  params: Readonly<Record<string, string>>;
  /** What the client may do. The router sets it for the route that it has found. */
  level: Level;
  /** Is called with the method and path of the route that was found, with `:name` for parameters. */
  readonly found: (route: string) => void;
  /** What is recorded of the request, if it is (docs/security.md#audit). */
  readonly audited: AuditedCall;
}

/** Answers, or throws a `Failure` that becomes the answer. */
export type Handle = (call: Call) => Response | Promise<Response>;

/**
 * What an answer is, and if it has a body its schema. JSON unless another type is given. `bytesType`:
 * what it is for those who ask for bytes instead.
 */
export type ResponseDoc = readonly [
  description: string,
  schema?: Json,
  mediaType?: string,
  bytesType?: string,
];

/** What the OpenAPI document says of a route. */
export interface RouteDoc {
  /** Operation id of the interface (docs/spec/admin.md#operations). */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly query?: readonly Parameter<unknown>[];
  /** By status: how it succeeds. Refusals all have one shape (docs/spec/admin.md#refusals). */
  readonly answers: Readonly<Record<number, ResponseDoc>>;
  /** Statuses it is refused with, beside those that any request may be. */
  readonly refusals?: readonly number[];
}

/** One method of one path. */
export interface Route extends RouteDoc {
  readonly handle: Handle;
  /** What its body must be. Absent: no body is read. */
  readonly body?: Struct<unknown, unknown>;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Paths, with `:name` for a segment, and what answers each method. GET answers HEAD as well. What is
 * no more than a function is not in the OpenAPI document.
 */
export type Routes = Readonly<
  Record<string, Readonly<Partial<Record<Method, Route | Handle>>>>
>;

/**
 * A route that reads a body: the struct that describes it is the one that checks it. `handle` is
 * called with what the struct lets pass.
 */
export function withBody<T, S>(
  about: RouteDoc,
  body: Struct<T, S>,
  handle: (call: Call, body: T) => Response | Promise<Response>,
): Route {
  return {
    ...about,
    body: body as Struct<unknown, unknown>,
    handle: async (call) => handle(call, await readBody(call, body)),
  };
}

/** As `withBody`, of a body that is a list of what `item` accepts. `soon`: as in `Clock`. */
export function withItems<T, S>(
  about: RouteDoc,
  { item, soon }: {
    readonly item: Struct<T, S>;
    readonly soon: (call: () => void) => void;
  },
  handle: (call: Call, items: T[]) => Response | Promise<Response>,
): Route {
  return {
    ...about,
    body: listOf(item) as Struct<unknown, unknown>,
    handle: async (call) => handle(call, await readItems(call, item, soon)),
  };
}
