import { signal } from "@preact/signals";
import { parseJson } from "./json.ts";
import type { Sql } from "./sql.ts";

/** A refusal of the admin API, or no answer at all (status 0). */
export class ApiError extends Error {
  readonly status: number;
  /** Such as `META0003`. */
  readonly code: string | undefined;

  constructor(status: number, message: string, code?: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Where a token is kept that cannot be a session: for this tab, and gone with it. */
const TOKEN = "perdure.token";
// There is no storage where parts of the UI are tested without a browser.
const tabToken = signal(globalThis.sessionStorage?.getItem(TOKEN) ?? null);

/** Why the server lets nobody in: it was shown nothing, or what is not valid any more. */
export const refused = signal<ApiError | undefined>(undefined);

/** How often somebody was let in: answers to what was asked before say nothing of now. */
let entries = 0;

/** Somebody has signed in. */
export function letIn(): void {
  entries++;
  refused.value = undefined;
}

/** The URL of a path of the admin API. It is one step above the UI, whatever prefix is in front. */
export function apiUrl(path: string): string {
  return new URL(`../${path.replace(/^\//, "")}`, document.baseURI).href;
}

/** Sends a bearer token with every further request of this tab. Undefined: none. */
export function setToken(token: string | undefined): void {
  tabToken.value = token ?? null;
  if (token === undefined) sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, token);
}

/** Whether requests carry a token, which a link does not. A session is no token: links have it. */
export function hasToken(): boolean {
  return tabToken.value !== null;
}

/** The headers that show the token, if there is one. */
export function credentials(): Record<string, string> {
  const token = tabToken.value;
  return token ? { authorization: `Bearer ${token}` } : {};
}

export interface Send {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

/** Asks the admin API. Answers the parsed JSON, undefined without a body. Throws `ApiError`. */
export async function api<T>(path: string, send: Send = {}): Promise<T> {
  const text = await apiText(path, send);
  return (text === "" ? undefined : parseJson(text)) as T;
}

/** Asks the admin API. Answers the text of the body. Throws `ApiError`. */
export async function apiText(
  path: string,
  { method = "GET", body, signal }: Send = {},
): Promise<string> {
  const headers = {
    // Exactly this: with anything else `/query` answers Arrow.
    accept: "application/json",
    ...(body !== undefined && { "content-type": "application/json" }),
    ...credentials(),
  };
  const init = { method, headers, signal: signal ?? null };
  const before = entries;
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
  const response = await fetch(apiUrl(path), sent).catch((cause) => {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, "The server does not answer", String(cause));
  });
  const text = await response.text();
  if (response.ok) return text;
  const refusal = refusalOf(response.status, text);
  if (refusal.status === 401 && before === entries) refused.value = refusal;
  throw refusal;
}

/** The rows of a statement. Columns that are null are absent. Throws `ApiError`. */
export async function query<Row>(statement: Sql, signal?: AbortSignal): Promise<Row[]> {
  const send = { method: "POST", body: { query: statement.text } } as const;
  const { rows } = await api<{ rows: Row[] }>("query", { ...send, ...(signal && { signal }) })
    .catch((cause) => {
      throw cause instanceof ApiError && NO_ROUTE.includes(cause.status)
        ? new ApiError(cause.status, NO_SQL)
        : cause;
    });
  return rows;
}

/** Statuses of a server that has no such route. */
export const NO_ROUTE: readonly number[] = [404, 405, 501];

const NO_SQL = "This server answers no SQL (POST /query), by which this is read.";

function refusalOf(status: number, text: string): ApiError {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    // The name of the field depends on the server's dialect.
    const [, code] = Object.entries(body).find(([name]) => name.endsWith("_code")) ?? [];
    const known = typeof code === "string" ? code : undefined;
    return new ApiError(status, String(body["message"] ?? text), known);
  } catch {
    return new ApiError(status, text === "" ? `The server answered ${status}` : text);
  }
}
