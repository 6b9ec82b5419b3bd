import { checkBrowser } from "./browser_check.ts";
import type { Call } from "./route.ts";
import { uiAnswer, type UiOptions } from "./ui_files.ts";
import { isUiPath } from "./ui_headers.ts";
import { WrongMethod } from "./wrong_method.ts";

export interface UiRouteOptions extends UiOptions {
  /** Whether the admin API asks for tokens. Without them the page has data of this server. */
  readonly needsToken: boolean;
  /** As in `BrowserCheckOptions`. */
  readonly allowedHosts: readonly string[];
}

/**
 * Answers a request for the UI, which is not described in `/openapi`. Undefined: it is for another path.
 * Throws `Failure` 403 for a name that is not this server's where no token is asked for, since a page
 * under that name could then read what the page says of this server; 404 for a file that does not exist;
 * `WrongMethod`.
 */
export async function uiRoute(
  call: Call,
  { needsToken, allowedHosts, ...options }: UiRouteOptions,
): Promise<Response | undefined> {
  const { pathname } = new URL(call.url);
  if (!options.ui || !isUiPath(pathname)) return undefined;
  call.found("GET /ui/*");
  checkBrowser(call.request, { allowedHosts, needsToken });
  const response = await uiAnswer(call.request, pathname, options);
  if (call.method !== "GET") throw new WrongMethod("GET, HEAD");
  return response;
}
