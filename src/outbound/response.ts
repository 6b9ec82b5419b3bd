import type { DialHead } from "../dial.ts";
import { type Failed, failed } from "./failed.ts";
import { retryAfterMs } from "./retry_after.ts";

/** Names of the statuses that an endpoint, or a proxy in front of it, is likely to send. */
const REASONS: Readonly<Record<number, string>> = {
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  421: "Misdirected Request",
  422: "Unprocessable Entity",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

/** `404 Not Found`. */
export function printStatus(status: number): string {
  const reason = REASONS[status];
  return reason === undefined ? String(status) : `${status} ${reason}`;
}

/** The response that an attempt expects. `now` in milliseconds since the epoch. */
export interface Expected {
  readonly mediaType: string;
  readonly protocol: number;
  readonly now: number;
}

/**
 * Why the head of a response does not begin an attempt (docs/spec/service-protocol.md#responses).
 * Undefined: it does.
 */
export function refusal(head: DialHead, expected: Expected): Failed | undefined {
  if (head.status !== 200) return badStatus(head, expected);
  const contentType = head.header("content-type");
  if (contentType === expected.mediaType) return undefined;
  const shown = contentType === undefined ? "None" : `Some("${contentType}")`;
  return failed(
    "RT0012",
    `unexpected content type '${shown}'; expected content type '"${expected.mediaType}"'`,
  );
}

function badStatus(head: DialHead, { protocol, now }: Expected): Failed {
  const { status } = head;
  const shown = printStatus(status);
  switch (status) {
    case 413:
      return failed("RT0019", "service replied with content too large");
    case 415:
      return failed(
        "RT0015",
        `cannot start the invocation because the SDK doesn't support the protocol version ` +
          `'${protocol}' negotiated at discovery time`,
        // No handler has run: the failure does not count for `Start`
        // (docs/spec/service-protocol.md#failures-since-the-last-command).
        { status: 415, reached: false },
      );
    case 429:
    case 503: {
      const wait = retryAfterMs(head.header("retry-after"), now);
      const hint = wait === undefined ? "" : ` (retry after: ${Math.ceil(wait / 1000)} seconds)`;
      return failed("RT0023", `service is rate limited due to '${shown}'${hint}`, {
        ...(wait !== undefined && { retryAfterMs: wait }),
      });
    }
    case 502:
    case 504:
      return failed("RT0010", `service is temporary unavailable '${shown}'`);
    case 404:
      return failed(
        "RT0012",
        `unexpected http status code: ${shown}; the endpoint does not know the service or the ` +
          "handler: register the code that runs there (POST /deployments)",
      );
    default:
      return failed("RT0012", `unexpected http status code: ${shown}`);
  }
}
