import type { RemoteAddress } from "./address.ts";
import { SqlError } from "../sql_error.ts";

/** Statuses that mean that the request was not processed, or is ambiguous. */
const LOST_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403]);

/**
 * An error of a libSQL server, or the reason why it did not answer. Its causes are not kept, because
 * they may hold the request, and with it the token.
 */
export class RemoteError extends SqlError {
  override name = "RemoteError";
  /** Whether the batch is ambiguous: it may be applied, now or later, and may be retried. */
  readonly isLost: boolean;
  /** Whether the server does not accept the token, or requires one. */
  readonly isForbidden: boolean;

  constructor(cause: unknown, { url, authToken }: RemoteAddress) {
    const { code, status } = codeOf(cause);
    const message = `${wordsOf(cause)} (${url})`;
    super(authToken === "" ? message : message.replaceAll(authToken, "(hidden)"), code);
    this.isLost = isLoss(code, status);
    this.isForbidden = status !== undefined && REFUSED_STATUSES.has(status);
  }
}

/** Whether a result exceeded the response limit of the server. */
export function isTooLarge(cause: unknown): boolean {
  return cause instanceof RemoteError && cause.code === "RESPONSE_TOO_LARGE";
}

const UNREACHABLE = "UNREACHABLE";

function codeOf(cause: unknown): { readonly code: string; readonly status?: number } {
  // By name, because the client's classes may be loaded twice.
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
  // A response that cannot be parsed is ambiguous, too. A writer that found the database locked has
  // written nothing, and may retry.
  return code === UNREACHABLE || code === "HRANA_PROTO_ERROR" || /^SQLITE_(BUSY|LOCKED)/.test(code);
}

/** The messages of the whole chain of causes: the one of `fetch` says only that it failed. */
function wordsOf(cause: unknown): string {
  const words: string[] = [];
  for (let one = cause; one instanceof Error && words.length < 4; one = one.cause) {
    // The client puts its code in front of a message, sometimes more than once.
    const text = one.message.replace(/^(?:[A-Z][A-Z_]+: )+/, "") || one.name;
    if (!words.some((word) => word.includes(text))) words.push(text);
  }
  return words.join(": ") || String(cause);
}
