import { api, credentials, hasToken } from "./client.ts";
import { isSignedIn } from "./session.ts";

/**
 * As `fetch`, to the ingress. Only where the ingress asks for a token it shows one: elsewhere a handler
 * would get it. With a session that is a token for calls, which the admin API makes.
 */
export async function fetchIngress(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status !== 401 || !isSignedIn()) return response;
  if (!await isOfIngress(response.clone())) return response;
  const shown = hasToken() ? credentials() : await callCredentials();
  const headers = { ...Object.fromEntries(new Headers(init.headers)), ...shown };
  return await fetch(url, { ...init, headers });
}

async function callCredentials(): Promise<Record<string, string>> {
  const made = await api<{ token: string }>("internal/ui/calls-token", { method: "POST" });
  return { authorization: `Bearer ${made.token}` };
}

/** Whether it is no failure of a handler: that one has run, and would run twice. */
async function isOfIngress(response: Response): Promise<boolean> {
  const body = await response.json().catch(() => undefined) as { source?: unknown } | undefined;
  return body?.source === "ingress";
}
