/**
 * Makes one `cookie` of those that HTTP/2 sends in a field each (RFC 9113, 8.2.3), in place: names and
 * values in turn, in lower case. Fetch joins them by a comma on Deno, and ingress reads the first only.
 */
export function joinCookies(flat: string[]): void {
  let first: number | undefined;
  for (let at = 0; at + 1 < flat.length; at += 2) {
    if (flat[at] !== "cookie") continue;
    if (first === undefined) {
      first = at;
      continue;
    }
    flat[first + 1] += `; ${flat[at + 1]}`;
    flat.splice(at, 2);
    at -= 2;
  }
}
