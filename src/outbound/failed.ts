import type { Code } from "../error_codes.ts";
import { Failure } from "../errors.ts";
import type { Outcome } from "../engine/event.ts";
import { printDuration } from "../model/duration.ts";
import type { AttemptFailure, AttemptSite } from "../model/invocation.ts";
import type { DialFailure } from "../dial.ts";
import type { Log } from "../ports.ts";
import type { AttemptError } from "../wire/decode_rest.ts";
import { shownUri } from "./shown_uri.ts";

export type Failed = Extract<Outcome, { kind: "failed" }>;

/**
 * An attempt that failed before or while the SDK ran it
 * (docs/spec/service-protocol.md#failures-of-attempts). `status` is 500 unless given, `reached`
 * true.
 */
export function failed(
  code: Code,
  message: string,
  options: Partial<Omit<Failed, "kind" | "failure"> & { readonly status: number }> = {},
): Failed {
  const { status = 500, reached = true, retryAfterMs, behavior } = options;
  const failure: AttemptFailure = { code, status, message };
  return {
    kind: "failed",
    failure,
    reached,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(behavior && { behavior }),
  };
}

/**
 * The SDK ended the attempt with an `Error` message
 * (docs/spec/service-protocol.md#errors-of-an-sdk). Its special codes have RT codes of their own.
 * From version 7 on it may ask not to be retried.
 */
export function failedBySdk({ failure, nextRetryDelayMs, behavior }: AttemptError): Failed {
  const { status } = failure;
  const code = status === 570 ? "RT0016" : status === 571 ? "RT0012" : "RT0007";
  return {
    kind: "failed",
    failure: { ...failure, code },
    reached: true,
    ...(nextRetryDelayMs !== undefined && { retryAfterMs: nextRetryDelayMs }),
    ...(behavior && behavior !== "retry" && { behavior }),
  };
}

/** The response ended, or broke off within a message, without a terminal one. */
export const endedEarly: Failed = failed("RT0007", "unknown");

/** How long an endpoint that refused a stream for want of room is given before the retry. */
const BUSY_MS = 500;

/**
 * The connection broke, or could not be opened. A busy endpoint has read nothing (RFC 9113, section
 * 8.7), so that failure does not count as an attempt. An address that may not be called is RT0033,
 * a request without its credentials RT0035.
 */
export function networkFailed(uri: string, { kind, message }: DialFailure): Failed {
  if (kind === "forbidden") return failed("RT0033", `cannot call '${shownUri(uri)}': ${message}`);
  if (kind === "unauthenticated") {
    return failed("RT0035", `cannot call '${shownUri(uri)}': ${message}`, { reached: false });
  }
  const detail = kind === "http1"
    ? "server possibly supports only HTTP1.1, consider discovery with --use-http1.1"
    : message;
  const spared = kind === "busy" ? { reached: false, retryAfterMs: BUSY_MS } : {};
  return failed("RT0010", `error when calling '${shownUri(uri)}': ${detail}`, spared);
}

/** A bug of ours in reading one endpoint's messages must not end the attempts of the others. */
export function unreadable(
  cause: unknown,
  { id, site }: { readonly id: string; readonly site: AttemptSite },
  log: Log,
): Failed {
  const { deployment } = site;
  log("error", "cannot read a message of an endpoint", { id, deployment, cause: String(cause) });
  return failed("RT0012", "message encoding error");
}

/** The endpoint sent nothing for `timeoutMs` while the request half was closed. */
export function abortTimedOut(timeoutMs: number): Failed {
  return failed(
    "RT0001",
    `the invocation stream was closed after the 'abort timeout' (${
      printDuration(timeoutMs)
    }) fired.`,
  );
}

/**
 * A message that cannot be read (RT0003, RT0012), or that exceeds a limit (RT0024, RT0025).
 * Undefined: `cause` is a bug of ours.
 */
export function badMessage(cause: unknown): Failed | undefined {
  if (!(cause instanceof Failure) || cause.code === null) return undefined;
  // The code is removed from the message: it has a field of its own in an attempt's failure.
  const message = cause.message.replace(`[${cause.code}] `, "");
  // A retry would await the same futures and fail again: the invocation pauses until an operator
  // resumes it (docs/spec/service-protocol.md#failures-of-attempts).
  return failed(cause.code, message, cause.code === "RT0025" ? { behavior: "pause" } : {});
}
