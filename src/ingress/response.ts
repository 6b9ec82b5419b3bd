import type { HeaderPair, TerminalFailure } from "../model/journal.ts";
import type { OutputRule } from "../model/schema.ts";
import { ALIAS, type Dialect, header, OWN } from "../names.ts";
import { addCors, type Caller, type HeaderList } from "./cors.ts";

const ID: Readonly<Record<Dialect, string>> = {
  [OWN]: header(OWN, "id"),
  [ALIAS]: header(ALIAS, "id"),
};
const ERROR_SOURCE: Readonly<Record<Dialect, string>> = {
  [OWN]: header(OWN, "error-source"),
  [ALIAS]: header(ALIAS, "error-source"),
};
const JSON_TYPE: [string, string] = ["content-type", "application/json"];
const NOTHING = new Uint8Array(0);

/** An answer that belongs to an invocation. */
export interface InvocationRef {
  readonly id: string;
  /** Set when the result comes from a stored completion. Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined;
}

/**
 * 200 with what the handler returned, byte for byte (docs/spec/ingress.md#calls-and-sends).
 * `output`: its declaration.
 */
export function succeeded(
  caller: Caller,
  { id, expiresAt }: InvocationRef,
  { value, output }: { readonly value: Uint8Array; readonly output: OutputRule | undefined },
): Response {
  const headers = identified(caller, id, expiresAt);
  const contentType = outputType(output, value.length === 0);
  if (contentType !== undefined) headers.push(["content-type", contentType]);
  addCors(headers, caller);
  return new Response(value as Uint8Array<ArrayBuffer>, { status: 200, headers });
}

/**
 * The declared content type; a handler without a declaration speaks JSON
 * (docs/spec/ingress.md#calls-and-sends).
 */
function outputType(output: OutputRule | undefined, isEmpty: boolean): string | undefined {
  if (isEmpty && !output?.setContentTypeIfEmpty) return undefined;
  return output ? output.contentType : "application/json";
}

/**
 * The failure of an invocation: its code is the status where HTTP has such a one
 * (docs/spec/ingress.md#failure-codes-as-statuses). Codes below 200 become 500, because a final
 * answer cannot have them.
 */
export function failed(
  caller: Caller,
  { id, expiresAt }: InvocationRef,
  { code, message, metadata, stacktrace }: TerminalFailure,
): Response {
  const headers = identified(caller, id, expiresAt);
  for (const dialect of caller.dialects) headers.push([ERROR_SOURCE[dialect], "invocation"]);
  headers.push(JSON_TYPE);
  addCors(headers, caller);
  const body = JSON.stringify({
    code,
    message,
    stacktrace,
    metadata: toObject(metadata),
    source: "invocation",
  });
  return respond(code >= 200 && code <= 999 ? code : 500, body, headers);
}

/** An error of ingress itself (docs/spec/ingress.md#errors). `status`: 400 to 599. */
export function refused(caller: Caller, status: number, message: string): Response {
  return fromIngress(caller, status, { code: status, message, source: "ingress" });
}

const NO_OUTPUT = { notReady: [470, "not ready"], notFound: [404, "not found"] } as const;

/**
 * Why there is no output: `{"message": …}` and nothing else
 * (docs/spec/ingress.md#attach-output-and-lookup).
 */
export function noOutput(caller: Caller, why: keyof typeof NO_OUTPUT): Response {
  const [status, message] = NO_OUTPUT[why];
  return fromIngress(caller, status, { message });
}

function fromIngress(caller: Caller, status: number, body: unknown): Response {
  const headers: HeaderList = [JSON_TYPE];
  // Only a request without a valid token is refused so.
  if (status === 401) headers.push(["www-authenticate", "Bearer"]);
  for (const dialect of caller.dialects) headers.push([ERROR_SOURCE[dialect], "ingress"]);
  addCors(headers, caller);
  return respond(status, JSON.stringify(body), headers);
}

/** 202 and nothing else: the request is durable (docs/spec/ingress.md#awakeables). */
export function accepted(caller: Caller): Response {
  const headers: HeaderList = [];
  addCors(headers, caller);
  // No body at all would be sent in chunks, of which there are none.
  return new Response(NOTHING, { status: 202, headers });
}

/** Any other JSON answer; with `id` it belongs to that invocation. */
export function json(
  caller: Caller,
  body: unknown,
  { status, id }: { readonly status: number; readonly id?: string },
): Response {
  const headers = id === undefined ? [] : identified(caller, id, undefined);
  headers.push(JSON_TYPE);
  addCors(headers, caller);
  return new Response(JSON.stringify(body), { status, headers });
}

function identified({ dialects }: Caller, id: string, expiresAt: number | undefined): HeaderList {
  const headers: HeaderList = [];
  for (const dialect of dialects) headers.push([ID[dialect], id]);
  if (expiresAt !== undefined) headers.push(["idempotency-expires", printExpiry(expiresAt)]);
  return headers;
}

/**
 * RFC 3339 with milliseconds and a numeric offset, as clients know it
 * (docs/spec/ingress.md#headers-and-query).
 */
function printExpiry(at: number): string {
  return new Date(at).toISOString().replace("Z", "+00:00");
}

function toObject(metadata: readonly HeaderPair[] | undefined): Record<string, string> | undefined {
  return metadata && metadata.length > 0 ? Object.fromEntries(metadata) : undefined;
}

/**
 * Fetch forbids a body with these statuses, and a `Response` with a status above 599: then the
 * answer is a 500 whose body still has the code. Platforms with a laxer `Response` send it.
 */
function respond(status: number, body: string, headers: HeaderList): Response {
  const isBare = status === 204 || status === 205 || status === 304;
  try {
    return new Response(isBare ? null : body, { status, headers });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    return new Response(body, { status: 500, headers });
  }
}
