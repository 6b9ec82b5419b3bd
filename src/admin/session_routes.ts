import { isAtLeast } from "../auth/grants.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Sessions } from "../auth/sessions.ts";
import { Failure } from "../errors.ts";
import { missingRole, type PermitOptions } from "./access.ts";
import { readBody } from "./body.ts";
import { checkBrowser } from "./browser_check.ts";
import { reply } from "./reply.ts";
import type { Call, Routes } from "./route.ts";
import { fields, maybe, text } from "./shapes.ts";

/** Without `sessions` the admin API needs no token, and there are no such routes. */
export type SessionRouteOptions = Pick<
  PermitOptions,
  "authenticator" | "sessions" | "allowedHosts"
>;

/** `path`: where the browser finds the admin API. */
const body = fields({ token: text, path: maybe(text) });

/**
 * The routes by which the UI signs in and out (docs/spec/admin.md#sessions). They are not in the OpenAPI
 * document: programs show their token with each request.
 */
export function sessionRoutes(
  { sessions, authenticator, allowedHosts = [] }: SessionRouteOptions,
): Routes {
  if (!sessions || !authenticator) return {};
  const known = { sessions, authenticator, allowedHosts };
  return {
    "/internal/ui/session": {
      GET: (call) => show(call, sessions),
      POST: (call) => signIn(call, known),
      DELETE: (call) => signOut(call, known),
    },
    "/internal/ui/calls-token": { POST: (call) => makeCallsToken(call, sessions) },
  };
}

type Known = Required<SessionRouteOptions> & {
  readonly sessions: Sessions;
  readonly authenticator: Authenticator;
};

/** Who asks. `ends_at`: of a session; a client that shows a token itself has none. */
async function show({ request, level, audited }: Call, sessions: Sessions): Promise<Response> {
  const session = request.headers.has("authorization") ? undefined : await sessions.find(request);
  return reply(200, aboutOf({ name: audited.identity ?? "", level, until: session?.until }), FRESH);
}

/** Checks a token and answers the cookie of a session. Refused as `permit` does for a viewer. */
async function signIn(
  call: Call,
  { sessions, authenticator, allowedHosts }: Known,
): Promise<Response> {
  checkBrowser(call.request, { allowedHosts, needsToken: true });
  const { token, path } = await readBody(call, body);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw Failure.plain(401, "the token is empty, or has characters that no token has");
  }
  const { request } = call;
  const { name, level } = await authenticator.identify(`Bearer ${token}`, { request });
  call.audited.identity = name;
  if (!isAtLeast(level, "viewer")) throw missingRole({ name, level }, "viewer");
  const { cookie, until } = await sessions.begin(call.request, { token, path: path ?? "/" });
  return reply(200, aboutOf({ name, level, until }), { ...FRESH, "set-cookie": cookie });
}

/** Ends the session of a browser and takes it away, whatever it is. */
async function signOut(
  { request, audited }: Call,
  { sessions, allowedHosts }: Known,
): Promise<Response> {
  checkBrowser(request, { allowedHosts, needsToken: true });
  const session = await sessions.find(request);
  if (session) {
    const identity = await sessions.identify(session).catch(() => undefined);
    audited.identity = identity?.name ?? null;
  }
  const response = new Response(null, { status: 204 });
  const path = new URL(request.url).searchParams.get("path") ?? "/";
  for (const cookie of await sessions.end(request, path)) {
    response.headers.append("set-cookie", cookie);
  }
  return response;
}

/** A token for the ingress, of the client that asks: the page has none itself. */
async function makeCallsToken({ request }: Call, sessions: Sessions): Promise<Response> {
  const shown = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  const token = shown ?? (await sessions.find(request))?.token;
  if (token === undefined) throw Failure.plain(400, "A client without a token has none for calls");
  const made = await sessions.callsToken(token);
  return reply(200, { token: made.token, ends_at: dateOf(made.until) }, FRESH);
}

const FRESH = { "cache-control": "no-store" };

function aboutOf(
  { name, level, until }: {
    readonly name: string;
    readonly level: string;
    readonly until?: number | undefined;
  },
): object {
  return { identity: name, level, ...(until !== undefined && { ends_at: dateOf(until) }) };
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString();
}
