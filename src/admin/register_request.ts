import { record, type, validate } from "superstruct";
import { parseAddress } from "./address.ts";
import { badField, quote, wrongShape } from "./refusals.ts";
import type { Registration } from "./registry.ts";
import { flag, maybe, plain, text } from "./shapes.ts";

const texts = plain(record(text, text));

/** The body of `POST /deployments` (http-api §3.4). Unknown fields are ignored, null is absent. */
const body = plain(type({
  uri: maybe(text),
  arn: maybe(text),
  additional_headers: maybe(texts),
  metadata: maybe(texts),
  use_http_11: maybe(flag),
  auth: maybe(plain(type({}))),
  breaking: maybe(flag),
  force: maybe(flag),
  dry_run: maybe(flag),
}));

/**
 * Reads a registration. `force` stands in when the body says nothing about it. Throws a `Failure`:
 * 422 with the path to what has the wrong shape, 400 for a value that cannot be used.
 */
export function parseRegistration(value: unknown, force: boolean): Registration {
  const [error, request] = validate(value, body);
  if (error) throw wrongShape(error.path.join("."), error.failures()[0]?.message ?? error.message);
  const { uri, arn, auth } = request;
  if (typeof uri !== "string") {
    if (typeof arn === "string") throw unavailable("arn", "Function deployments");
    throw wrongShape("uri", "expected a string");
  }
  if (auth) throw unavailable("auth", "Identity tokens");
  return {
    uri: parseAddress(uri),
    useHttp11: request.use_http_11 ?? false,
    additionalHeaders: parseHeaders(request.additional_headers ?? {}),
    metadata: request.metadata ?? {},
    force: request.force ?? force,
    breaking: request.breaking ?? false,
    dryRun: request.dry_run ?? false,
  };
}

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

/** Names in lower case; of names that differ in case only the last one wins. */
function parseHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const path = `additional_headers.${name}`;
      if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name)) {
        throw wrongShape(path, "expected a header name");
      }
      if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
        throw wrongShape(path, "expected a header value");
      }
      const lower = name.toLowerCase();
      if (CONNECTION_HEADERS.includes(lower)) {
        throw badField("additional_headers", `The header ${quote(lower)} cannot be set`);
      }
      return [lower, value];
    }),
  );
}

function unavailable(field: string, what: string) {
  return badField(field, `${what} are not available in this version`);
}
