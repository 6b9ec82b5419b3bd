import type { Failure } from "../errors.ts";
import { ALIAS, codeField, type Dialect, DIALECTS, header, OWN } from "../names.ts";

const JSON_HEADERS = { "content-type": "application/json" };
const NOTHING = new Uint8Array(0);

/** A JSON answer. `value` survives `JSON.stringify`; absent fields are left out. */
export function reply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return replyJson(status, JSON.stringify(value), headers);
}

/** As `reply`, for what is JSON already. */
export function replyJson(
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(json, { status, headers: { ...JSON_HEADERS, ...headers } });
}

/** An answer that is its status: an empty body, and no content type. */
export function empty(status: number): Response {
  // No body at all would be sent in chunks, of which there are none.
  return new Response(NOTHING, { status });
}

/**
 * The one shape of every refusal: `{message, svc_code}`, the code null when it has none, in each of
 * the caller's spellings (docs/spec/admin.md#refusals). Never a stack trace.
 */
export function refuse(
  { status, message, code }: Pick<Failure, "status" | "message" | "code">,
  dialects: readonly Dialect[],
  headers: Readonly<Record<string, string>> = {},
): Response {
  const codes = dialects.map((dialect) => [codeField(dialect), code]);
  return reply(status, { message, ...Object.fromEntries(codes) }, headers);
}

/** A caller that does not show its spelling may read either. */
const ONLY_ALIAS: readonly Dialect[] = [ALIAS];

/**
 * The spellings a caller is answered in: the alias alone where a header's name or the user agent
 * shows it, else both, ours first. Admin paths have no spelling of their own, and admin bodies do
 * not either.
 */
export function dialectsOf(headers: Headers): readonly Dialect[] {
  if (headers.get("user-agent")?.toLowerCase().includes(ALIAS)) return ONLY_ALIAS;
  const prefix = header(ALIAS, "");
  for (const name of headers.keys()) {
    if (name.startsWith(prefix)) return ONLY_ALIAS;
  }
  return DIALECTS;
}

/** As `dialectsOf`, where only one can be used: in paths. */
export function dialectOf(headers: Headers): Dialect {
  return dialectsOf(headers)[0] ?? OWN;
}
