import { Failure } from "../errors.ts";
import type { Call } from "./route.ts";
import { apiVersions } from "./version.ts";

/**
 * The call of a request: takes the API version off the path. HEAD is asked as GET, and loses its body
 * afterwards. Throws `Failure` 400 for version 1.
 */
export function callOf(
  request: Request,
  reading: Pick<Call, "bodyBytesMax" | "unknown" | "found" | "audited">,
): Call {
  const url = new URL(request.url);
  const [prefix, digits] = /^\/v([1-9]\d{0,8})(?=\/|$)/.exec(url.pathname) ?? ["", apiVersions.max];
  const apiVersion = Number(digits);
  if (apiVersion === 1) {
    throw Failure.plain(
      400,
      "Unsupported Admin API version V1. This server supports versions between " +
        `V${apiVersions.min} and V${apiVersions.max}`,
    );
  }
  const isKnown = apiVersion >= apiVersions.min && apiVersion <= apiVersions.max;
  if (isKnown) url.pathname = url.pathname.slice(prefix.length);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return { ...reading, method, url: url.href, apiVersion, request, params: {}, level: "none" };
}
