import { Failure } from "../errors.ts";
import { shownUri } from "../outbound/shown_uri.ts";
import { badField, quote, wrongShape } from "./refusals.ts";

/**
 * The address of an endpoint as deployments keep it and compare it: a URL normalized by the URL
 * standard, so scheme and host in lower case, no default port, no fragment, and a slash where the
 * path is empty. Nothing else is folded: addresses that differ by the slash at the end of a path
 * are different deployments (docs/spec/service-protocol.md#registration), and so are those that
 * differ by scheme or query, which the reference confuses. Throws a `Failure`: 422 when it is no
 * URL, 400 when it is one we cannot call (docs/spec/admin.md#registration-of-deployments).
 */
export function parseAddress(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  // The URL parser would silently drop some of these, and then call another address than was given.
  if (text === "" || /[\s\p{Cc}\\]/u.test(text)) throw wrongUrl(text);
  if (scheme === undefined) {
    throw badField(
      "uri",
      `The provided uri ${quote(shownUri(text))} is not absolute, only absolute URIs can be used`,
    );
  }
  if (scheme !== "http" && scheme !== "https") {
    throw badField("uri", `The scheme ${quote(scheme)} is not supported, use http or https`);
  }
  const url = parseUrl(text);
  if (url.username !== "" || url.password !== "") {
    throw badField("uri", "Credentials do not belong here, send them with additional_headers");
  }
  url.hash = "";
  return url.href;
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw wrongUrl(text, cause);
  }
}

function wrongUrl(text: string, cause?: unknown): Failure {
  return wrongShape("uri", `${quote(shownUri(text))} is not a URL`, { cause });
}
