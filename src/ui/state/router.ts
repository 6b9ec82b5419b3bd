import { signal } from "@preact/signals";

/** Where the UI is: the path below `/ui/`, without a slash in front, and its query. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The URL of `/ui/` itself. Fixed at the start, since relative links would move with the page. */
let base = "";

export const place = signal<Place>({ path: "", query: new URLSearchParams() });

/** Follows links and the history. Called once. */
export function startRouter(): void {
  const element = document.querySelector("base");
  base = document.baseURI;
  element?.setAttribute("href", base);
  read();
  addEventListener("popstate", read);
  document.addEventListener("click", follow);
}

function read(): void {
  const { pathname, search } = location;
  const path = pathname.slice(new URL(base).pathname.length);
  place.value = { path, query: new URLSearchParams(search) };
}

/** A click on a link of the UI changes the page in place. With a modifier it opens as any link does. */
function follow(event: MouseEvent): void {
  const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
  if (event.defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : undefined;
  if (!(link instanceof HTMLAnchorElement) || link.target !== "" || link.download !== "") return;
  if (!link.href.startsWith(base)) return;
  event.preventDefault();
  go(link.href);
}

/** Goes to a place: a path below `/ui/` such as `link("invocations", id)`. */
export function go(to: string, { isReplacing = false } = {}): void {
  const url = new URL(to, base).href;
  if (url === location.href) return;
  history[isReplacing ? "replaceState" : "pushState"](null, "", url);
  read();
  if (!isReplacing) scrollTo(0, 0);
}

/** Changes parameters of the query in place. Undefined and the empty text remove one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") query.delete(name);
    else query.set(name, value);
  }
  go(linkWith(place.value.path, query), { isReplacing: true });
}

/** A link to a page, relative to `/ui/`. Segments may hold any text, a slash or dot as well. */
export function link(...segments: readonly string[]): string {
  return segments.map(encodeSegment).join("/") || "./";
}

/** A link with a query. */
export function linkWith(path: string, query: URLSearchParams | Record<string, string>): string {
  const text = new URLSearchParams(query).toString();
  return `${path || "./"}${text === "" ? "" : `?${text}`}`;
}

/** A dot would make it the name of a file to the server. */
function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll(".", "%2E");
}

/** What a pattern such as `invocations/:id` finds in a path. Undefined: it does not match. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const [names, values] = [pattern.split("/"), path.replace(/\/$/, "").split("/")];
  if (names.length !== values.length) return undefined;
  const found: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const value = values[at]!;
    if (name.startsWith(":")) found[name.slice(1)] = decode(value);
    else if (name !== value) return undefined;
  }
  return found;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
