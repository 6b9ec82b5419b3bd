import type { AdditionalHeaders } from "../model/endpoint_credentials.ts";
import { badField, quote, wrongShape } from "./refusals.ts";

/** Headers that belong to a connection: HTTP/2 forbids them, and a client cannot set them. */
const CONNECTION_HEADERS = [
  "connection",
  "content-length",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

const VARIABLE = /^[a-z_][a-z0-9_]*$/i;

/** What those who may not set headers see in place of a value (`deployments.ts`). */
export const HIDDEN_VALUE = "***";

/**
 * The headers that a deployment's requests carry besides. Names in lower case; of names that differ
 * in case only the last one wins. A value that is hidden stays the one of `known`, which is what the
 * deployment has. Throws a `Failure`: 422 for what is no header, 400 for one that cannot be set.
 */
export function parseHeaders(
  given: AdditionalHeaders,
  known: AdditionalHeaders = {},
): AdditionalHeaders {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const path = `additional_headers.${name}`;
      if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name)) {
        throw wrongShape(path, "expected a header name");
      }
      if (typeof value !== "string") {
        if (!VARIABLE.test(value.env)) {
          throw wrongShape(`${path}.env`, "expected a variable's name");
        }
      } else if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
        throw wrongShape(path, "expected a header value");
      }
      const lower = name.toLowerCase();
      if (CONNECTION_HEADERS.includes(lower)) {
        throw badField("additional_headers", `The header ${quote(lower)} cannot be set`);
      }
      return [lower, value === HIDDEN_VALUE ? valueOf(lower, known) : value];
    }),
  );
}

/**
 * The stored value that a mask stands for: a client that sends the mask has not seen the value, and the
 * mask must not replace it. Throws a `Failure` 400 when there is no such header.
 */
function valueOf(name: string, known: AdditionalHeaders): AdditionalHeaders[string] {
  const value = Object.hasOwn(known, name) ? known[name] : undefined;
  if (value !== undefined) return value;
  throw badField(
    "additional_headers",
    `The value ${quote(HIDDEN_VALUE)} of ${
      quote(name)
    } stands for one that is not shown, and the ` +
      "deployment has no such header. Give its value",
  );
}
