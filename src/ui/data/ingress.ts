import { credentials } from "./client.ts";

/**
 * As `fetch`, to the ingress. It shows the token of this tab only where the ingress asks for one:
 * elsewhere a handler would get it.
 */
export async function fetchIngress(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const shown = credentials();
  if (response.status !== 401 || !("authorization" in shown)) return response;
  if (!await isOfIngress(response.clone())) return response;
  const headers = { ...Object.fromEntries(new Headers(init.headers)), ...shown };
  return await fetch(url, { ...init, headers });
}

/** Whether it is no failure of a handler: that one has run, and would run twice. */
async function isOfIngress(response: Response): Promise<boolean> {
  const body = await response.json().catch(() => undefined) as { source?: unknown } | undefined;
  return body?.source === "ingress";
}
