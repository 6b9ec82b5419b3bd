import { link, linkWith, place } from "../state/router.ts";
import { contains, type Sql, sql } from "./sql.ts";

/** What a path cannot have as a segment, however it is escaped: clients resolve it before they send. */
const DOTS: readonly string[] = [".", ".."];
/** Keys that cannot be a segment of the address of a page. */
const NO_SEGMENT: readonly string[] = ["", ...DOTS];

/** Whether a key can be in the URL of a call. */
export function isCallable(key: string): boolean {
  return !DOTS.includes(key);
}

/** A link to the page of an object. Its key may be any text, the empty one as well. */
export function objectLink(service: string, key: string): string {
  return keyedLinkOf("objects", service, { key });
}

/** A link to the page of an object, or of a run of a workflow. */
export function keyedLinkOf(
  page: "objects" | "workflows",
  service: string,
  { key, scope }: { readonly key: string; readonly scope?: string | undefined },
): string {
  const isSegment = !NO_SEGMENT.includes(key);
  return linkWith(isSegment ? link(page, service, key) : link(page, service), {
    ...(!isSegment && { key }),
    ...(scope !== undefined && { scope }),
  });
}

/** A link to the playground of a service, with what is called there. */
export function callLink(
  service: string,
  { call, key, scope }: {
    readonly call: string;
    readonly key: string;
    readonly scope?: string | undefined;
  },
): string {
  return linkWith(link("services", service), { call, key, ...(scope !== undefined && { scope }) });
}

/** That a value, or the name of its entry, has a text in it. Of the table `state`. */
export function inState(text: string): Sql {
  return sql`${contains(sql`value_utf8`, text)} OR ${contains(sql`key`, text)}`;
}

/** What the address of such a page names: the key is in its path, or else in its query. */
export function keyedOf(params: Readonly<Record<string, string>>) {
  const { service = "", key } = params;
  const { query } = place.value;
  const scope = query.get("scope") ?? undefined;
  return { service, key: key ?? query.get("key") ?? "", scope };
}
