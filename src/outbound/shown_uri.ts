/**
 * The address of an endpoint as messages show it: without a user and password, and without the values of
 * its query, where some endpoints have their tokens. Takes any text.
 */
export function shownUri(text: string): string {
  return text
    .replace(/^((?:[a-z][a-z0-9+.-]*:)?\/\/)?[^/?#\s]*@/i, "$1***@")
    .replace(/#.*$/s, "")
    .replace(/\?.*$/s, (query) => `?${query.slice(1).split("&").map(shownPair).join("&")}`);
}

function shownPair(pair: string): string {
  const at = pair.indexOf("=");
  return at < 0 ? "***" : `${pair.slice(0, at)}=***`;
}
