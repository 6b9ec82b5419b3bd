/**
 * Every name that is visible outside this server. `svc` is what we call ourselves; the alias is what existing SDKs,
 * clients and scripts say for the same things. We read both and answer in the one we were spoken
 * to in. Only this file, the wire codec and tests may spell the alias (decision 009).
 */
export const OWN = "svc";
export const ALIAS = "restate";

/** The spelling a peer used, and so the spelling it is answered in. */
export type Dialect = typeof OWN | typeof ALIAS;

export const DIALECTS: readonly Dialect[] = [OWN, ALIAS];

/** `x-svc-id` for `header("svc", "id")`. */
export function header(dialect: Dialect, name: string): string {
  return `x-${dialect}-${name}`;
}

/** `svc.subscription.id` for `attribute("svc", "subscription.id")`: headers that describe a Kafka record. */
export function attribute(dialect: Dialect, name: string): string {
  return `${dialect}.${name}`;
}

/** Reads a header in either spelling, ours first. */
export function readHeader(headers: Headers, name: string): string | null {
  return headers.get(header(OWN, name)) ?? headers.get(header(ALIAS, name));
}

/** The dialect of a first path segment (`/svc/…`), or undefined for a legacy service path. */
export function dialectOfSegment(segment: string): Dialect | undefined {
  return segment === OWN || segment === ALIAS ? segment : undefined;
}

/** `svc_code` in an error body, spelled for the caller. */
export function codeField(dialect: Dialect): string {
  return `${dialect}_code`;
}

/** `application/vnd.svc.<kind>`: media types of the service protocol. */
export function mediaType(dialect: Dialect, kind: string): string {
  return `application/vnd.${dialect}.${kind}`;
}

/** `worker.invoker.abort-timeout` → `SVC_WORKER__INVOKER__ABORT_TIMEOUT`, then the alias. */
export function envNames(path: string): string[] {
  const tail = path.replaceAll(".", "__").replaceAll("-", "_").toUpperCase();
  return DIALECTS.map((name) => `${name.toUpperCase()}_${tail}`);
}

/** Whether a service may not have this name: it would hide one of our own paths (META0005). */
export function isReservedService(name: string): boolean {
  const lower = name.toLowerCase();
  return name === OWN || lower.startsWith(ALIAS) || lower === "openapi";
}
