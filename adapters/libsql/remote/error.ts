import type { RemoteAddress } from "./address.ts";
import { SqlError } from "../sql_error.ts";

/** Answers that say that the request was not looked at, or that its fate is unknown. */
const LOST_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403]);

/**
 * What a libSQL server had to say, or why it said nothing. The causes it was made of are not kept:
 * they may hold the request, and with it the token.
 */
export class RemoteError extends SqlError {
  override name = "RemoteError";
  /** Whether the batch may have been applied, or may be applied later, or may be sent again. */
  readonly isLost: boolean;
  /** Whether the server does not accept the token, or wants one. */
  readonly isForbidden: boolean;

  constructor(cause: unknown, { url, authToken }: RemoteAddress) {
    const { code, status } = codeOf(cause);
    const message = `${wordsOf(cause)} (${url})`;
    super(authToken === "" ? message : message.replaceAll(authToken, "(hidden)"), code);
    this.isLost = isLoss(code, status);
    this.isForbidden = status !== undefined && REFUSED_STATUSES.has(status);
  }
}

/** Whether an answer was larger than the server gives. */
export function isTooLarge(cause: unknown): boolean {
  return cause instanceof RemoteError && cause.code === "RESPONSE_TOO_LARGE";
}

const UNREACHABLE = "UNREACHABLE";

function codeOf(cause: unknown): { readonly code: string; readonly status?: number } {
  // By name: there may be two copies of the client's classes.
  if (!(cause instanceof Error) || !/^Libsql(Batch)?Error$/.test(cause.name)) {
    return { code: UNREACHABLE };
  }
  const code = "code" in cause ? String(cause.code) : "UNKNOWN";
  const { cause: inner } = cause;
  return inner instanceof Error && "status" in inner
    ? { code, status: Number(inner.status) }
    : { code };
}

function isLoss(code: string, status: number | undefined): boolean {
  if (status !== undefined) return LOST_STATUSES.has(status);
  // An answer that cannot be read says nothing either. And a writer that found another one at work
  // has done nothing, and may come again.
  return code === UNREACHABLE || code === "HRANA_PROTO_ERROR" || /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** Everything the chain of causes says, for `fetch` says only that it failed. */
function wordsOf(cause: unknown): string {
  const words: string[] = [];
  for (let one = cause; one instanceof Error && words.length < 4; one = one.cause) {
    // The client puts its code in front, some several times.
    const text = one.message.replace(/^(?:[A-Z][A-Z_]+: )+/, "") || one.name;
    if (!words.some((word) => word.includes(text))) words.push(text);
  }
  return words.join(": ") || String(cause);
}
