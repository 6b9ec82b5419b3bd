// What the checks of all SDKs do alike: ask over HTTP, ask in SQL, and wait.

const WAIT_MS = 40_000;
const POLL_MS = 40;

/** Asks, by POST unless `method` says otherwise, and reads the answer: JSON as its value, the rest as text. */
export async function exchange(url, { waitMs = 60_000, ...init } = {}) {
  const signal = AbortSignal.timeout(waitMs);
  const answer = await fetch(url, { method: "POST", signal, ...init });
  const { status, ok, headers } = answer;
  const bytes = Buffer.from(await answer.arrayBuffer());
  const text = bytes.toString();
  const type = headers.get("content-type") ?? undefined;
  const id = headers.get("x-restate-id") ?? headers.get("x-svc-id") ?? undefined;
  const value = type?.includes("json") && text !== "" ? JSON.parse(text) : text;
  return { status, ok, headers, type, id, bytes, text, value };
}

/** The rows of a query of the admin API. */
export async function rowsOf(admin, sql, headers = {}) {
  const json = { "content-type": "application/json", accept: "application/json" };
  const body = JSON.stringify({ query: sql });
  const { ok, status, text, value } = await exchange(`${admin}/query`, {
    body,
    headers: { ...json, ...headers },
  });
  if (!ok) throw new Error(`${sql}: ${status} ${text}`);
  return value.rows;
}

/** Asks again and again, and gives the first answer that is true. */
export async function until(what, probe, waitMs = WAIT_MS) {
  for (const end = Date.now() + waitMs; Date.now() < end;) {
    const found = await probe();
    if (found) return found;
    await new Promise((go) => setTimeout(go, POLL_MS));
  }
  throw new Error(`timed out waiting for ${what}`);
}
