/**
 * What every answer for a path of the UI says to browsers, whatever its status (docs/security.md#browsers):
 * it is no page, unless it says so itself by a policy of its own, no other page may frame it or load it,
 * and its type is what it says.
 */
export const UI_HEADERS = {
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  // For browsers that do not know `frame-ancestors`.
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
} as const;

/** The paths of the UI, with and without an API version. */
const UI_PATH = /^(\/v[1-9]\d{0,8})?\/(ui(\/.*)?)?$/;

/** Whether a path of the admin API is one of the UI, which need not exist. */
export function isUiPath(pathname: string): boolean {
  return UI_PATH.test(pathname);
}

/** Adds `UI_HEADERS` to the answer for a path, if it is one of the UI, as far as it does not have them. */
export function secured(pathname: string, response: Response): Response {
  if (!isUiPath(pathname)) return response;
  for (const [name, value] of Object.entries(UI_HEADERS)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  return response;
}
