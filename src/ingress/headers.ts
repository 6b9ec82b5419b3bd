import { withoutSessions } from "../auth/session_cookie.ts";
import { Failure } from "../errors.ts";
import type { HeaderPair } from "../model/journal.ts";
import { ALIAS_PRIORITY_HEADER, PRIORITY_HEADER } from "../model/priority.ts";
import { ALIAS, type Dialect, header, OWN } from "../names.ts";
import { decodeRaw, isAscii } from "./percent.ts";

/** The headers of a request that ingress needs, read in one pass. */
export interface Head {
  /** The headers for the handler. The first element is reserved for the ingress path. */
  readonly pairs: HeaderPair[];
  idempotencyKey?: string;
  contentType?: string;
  /** The declared length of the body. */
  contentLength?: number;
  origin?: string;
  authorization?: string;
  traceparent?: string;
  tracestate?: string;
  /** In this server's spelling, and in the alias. */
  limitKey?: string;
  aliasLimitKey?: string;
  priority?: string;
  aliasPriority?: string;
  /** Name of the first header for the handler whose value is not visible ASCII. */
  bad?: string;
}

const INGRESS_PATH = header(OWN, "ingress-path");
const ALIAS_INGRESS_PATH = header(ALIAS, "ingress-path");
const LIMIT_KEY = header(OWN, "limit-key");
const ALIAS_LIMIT_KEY = header(ALIAS, "limit-key");
const NOT_VISIBLE = /[^\t\x20-\x7e]/;
const DIGITS = /^\d{1,15}$/;

/**
 * Takes names and values in turn. Of a repeated header only the first value counts
 * (docs/spec/ingress.md#headers-and-query).
 */
export function readHead(flat: readonly string[]): Head {
  const head: Head = { pairs: [["", ""]] };
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const given = flat[i + 1]!;
    // A browser sends the session of the UI to all ports of its host: no handler may have it.
    const value = name === "cookie" ? withoutSessions(given) : given;
    if (value === "" && given !== "") continue;
    if (!isForHandler(head, name, value) || has(head.pairs, name)) continue;
    note(head, name, value);
    if (head.bad === undefined && NOT_VISIBLE.test(value)) head.bad = name;
    head.pairs.push([name, value]);
  }
  return head;
}

/**
 * All headers but those of the connection, of idempotency, and those that only ingress may set
 * (docs/spec/ingress.md#headers-and-query).
 */
function isForHandler(head: Head, name: string, value: string): boolean {
  switch (name) {
    case "idempotency-key":
      head.idempotencyKey ??= value;
      return false;
    case "connection":
    case "host":
    case "idempotency-expires":
    case INGRESS_PATH:
    case ALIAS_INGRESS_PATH:
      return false;
    default:
      return name.charCodeAt(0) !== 0x3a; // HTTP/2 writes the request line as `:path` and the like
  }
}

/** Requests have few headers: comparing each is cheaper than a set. */
function has(pairs: readonly HeaderPair[], name: string): boolean {
  for (let i = 1; i < pairs.length; i++) {
    if (pairs[i]![0] === name) return true;
  }
  return false;
}

function note(head: Head, name: string, value: string): void {
  switch (name) {
    case "content-type":
      head.contentType = value;
      break;
    case "content-length":
      if (DIGITS.test(value)) head.contentLength = Number(value);
      break;
    case "origin":
    case "authorization":
      head[name] = value;
      break;
    case "traceparent":
    case "tracestate":
      head[name] = value;
      break;
    case LIMIT_KEY:
      head.limitKey = value;
      break;
    case ALIAS_LIMIT_KEY:
      head.aliasLimitKey = value;
      break;
    case PRIORITY_HEADER:
      head.priority = value;
      break;
    case ALIAS_PRIORITY_HEADER:
      head.aliasPriority = value;
      break;
  }
}

/**
 * The idempotency key, if any. Throws `Failure` 400 unless it is visible ASCII
 * (docs/spec/ingress.md#order-of-checks).
 */
export function idempotencyKeyOf({ idempotencyKey }: Head): string | undefined {
  if (idempotencyKey !== undefined && NOT_VISIBLE.test(idempotencyKey)) {
    throw badHeader("idempotency-key");
  }
  return idempotencyKey;
}

/** Throws `Failure` 400 when the content type is not visible ASCII. */
export function checkContentType({ bad, contentType }: Head): void {
  if (bad !== undefined && contentType !== undefined && NOT_VISIBLE.test(contentType)) {
    throw badHeader("content-type");
  }
}

/** Throws `Failure` 400 when a limit key is not visible ASCII. */
export function checkLimitKeyHeader({ bad, limitKey, aliasLimitKey }: Head): void {
  if (bad === undefined) return;
  if (NOT_VISIBLE.test(limitKey ?? "")) throw badHeader(LIMIT_KEY);
  if (NOT_VISIBLE.test(aliasLimitKey ?? "")) throw badHeader(ALIAS_LIMIT_KEY);
}

/**
 * The headers for the handler, with the ingress path first, in the dialect its deployment speaks.
 * `target`: the raw path and query. Throws `Failure` 400 for a value that is not visible ASCII.
 */
export function handlerHeaders(head: Head, dialect: Dialect, target: string): HeaderPair[] {
  if (head.bad !== undefined) throw badHeader(head.bad);
  const name = dialect === OWN ? INGRESS_PATH : ALIAS_INGRESS_PATH;
  head.pairs[0] = [name, isAscii(target) ? target : decodeRaw(target)];
  return head.pairs;
}

function badHeader(name: string): Failure {
  return Failure.plain(400, `bad header ${name}: ToStrError { _priv: () }`);
}

/**
 * Takes the token of this server out of the headers for the handler, so that it is in no journal.
 * Undefined: there is none.
 */
export function takeAuthorization(head: Head): string | undefined {
  const at = head.pairs.findIndex(([name]) => name === "authorization");
  if (at > 0) head.pairs.splice(at, 1);
  return head.authorization;
}
