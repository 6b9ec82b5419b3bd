import { type Dialect, header } from "../names.ts";

/** The client of an answer, as far as the form of the answer depends on it. */
export interface Caller {
  /** The spellings to answer in: that of the path, or both on a legacy path. */
  readonly dialects: readonly Dialect[];
  /** The origin that a browser sends for the page that asks. */
  readonly origin?: string;
  /** Whether a setting names that origin, so that its requests may carry cookies. */
  readonly isNamed?: boolean;
}

export type HeaderList = [name: string, value: string][];

/** Only for origins by name (decision 063): any page could else read answers with a visitor's cookies. */
const CREDENTIALS: HeaderList[number] = ["access-control-allow-credentials", "true"];

const VARY = "origin, access-control-request-method, access-control-request-headers";

/**
 * Adds what lets any page read an answer (docs/spec/ingress.md#cors). Beyond the reference it
 * exposes the headers of ours that a caller needs. Nothing is added unless a page asked.
 */
export function addCors(headers: HeaderList, { origin, isNamed, dialects }: Caller): void {
  if (origin === undefined) return;
  if (isNamed) headers.push(CREDENTIALS);
  headers.push(
    ["access-control-allow-origin", origin],
    ["access-control-expose-headers", exposed(dialects)],
    ["vary", VARY],
  );
}

/** Whether the pages of an origin may read answers. `allowed`: as in `ingress.cors-origins`. */
export function isAllowedOrigin(origin: string, allowed: readonly string[]): boolean {
  return allowed.includes("*") || allowed.includes(origin);
}

/**
 * Answers any OPTIONS request: what a page of an allowed origin asks to send, it may send. Takes the
 * flat headers.
 */
export function preflight(flat: readonly string[], allowed: readonly string[]): Response {
  const asked = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) asked.set(flat[i]!.toLowerCase(), flat[i + 1]!);
  const origin = asked.get("origin");
  if (origin !== undefined && !isAllowedOrigin(origin, allowed)) {
    return new Response(null, { status: 403, headers: [["vary", VARY], ["content-length", "0"]] });
  }
  const isNamed = origin !== undefined && allowed.includes(origin);
  const headers: HeaderList = [
    ...(isNamed ? [CREDENTIALS] : []),
    ["vary", VARY],
    ["content-length", "0"],
  ];
  for (const [from, to] of MIRRORED) {
    const value = asked.get(from);
    if (value !== undefined) headers.push([to, value]);
  }
  return new Response(null, { status: 200, headers });
}

const MIRRORED = [
  ["origin", "access-control-allow-origin"],
  ["access-control-request-method", "access-control-allow-methods"],
  ["access-control-request-headers", "access-control-allow-headers"],
] as const;

function exposed(dialects: readonly Dialect[]): string {
  const named = dialects.flatMap((one) => [header(one, "id"), header(one, "error-source")]);
  return [...named, "idempotency-expires"].join(", ");
}
