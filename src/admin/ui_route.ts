import type { Call } from "./route.ts";
import { uiAnswer, type UiOptions } from "./ui_files.ts";
import { isUiPath } from "./ui_headers.ts";
import { WrongMethod } from "./wrong_method.ts";

/**
 * Answers a request for the UI, which is not described in `/openapi`. Undefined: it is for another path.
 * Throws `Failure` 404 for a file that does not exist, and `WrongMethod`.
 */
export async function uiRoute(
  call: Call,
  options: UiOptions,
): Promise<Response | undefined> {
  const { pathname } = new URL(call.url);
  if (!options.ui || !isUiPath(pathname)) return undefined;
  call.found("GET /ui/*");
  const response = await uiAnswer(call.request, pathname, options);
  if (call.method !== "GET") throw new WrongMethod("GET, HEAD");
  return response;
}
