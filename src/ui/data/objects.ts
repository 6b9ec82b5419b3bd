import { link, linkWith, place } from "../state/router.ts";

/** Keys that cannot be a segment of a path: a browser drops them. */
const NO_SEGMENT: readonly string[] = ["", ".", ".."];

/** A link to the page of an object. Its key may be any text, the empty one as well. */
export function objectLink(service: string, key: string): string {
  return keyedLink("objects", service, key);
}

/** A link to the page of a run of a workflow. */
export function workflowLink(service: string, id: string): string {
  return keyedLink("workflows", service, id);
}

function keyedLink(page: string, service: string, key: string): string {
  return NO_SEGMENT.includes(key)
    ? linkWith(link(page, service), { key })
    : link(page, service, key);
}

/** The key that such a link names: of its path, else of its query. */
export function objectKeyOf({ key }: Readonly<Record<string, string>>): string {
  return key ?? place.value.query.get("key") ?? "";
}
