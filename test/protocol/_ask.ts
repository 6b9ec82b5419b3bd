import type { Target } from "./_target.ts";

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed when it is JSON, else as text; undefined when empty. */
  readonly body: unknown;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  /** `delay=1s` and the like. */
  readonly query?: string;
  readonly signal?: AbortSignal;
}

/** Asks anything. A string is sent as it is, other bodies as JSON. */
export async function request(
  method: string,
  url: string,
  { body, headers, query, signal }: Ask & { readonly body?: unknown } = {},
): Promise<Answer> {
  const isJson = body !== undefined && typeof body !== "string";
  const response = await fetch(query === undefined ? url : `${url}?${query}`, {
    method,
    headers: { ...(isJson ? { "content-type": "application/json" } : {}), ...headers },
    body: body === undefined ? null : isJson ? JSON.stringify(body) : body as string,
    signal: signal ?? null,
  });
  const text = await response.text();
  const isParsed = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : isParsed ? JSON.parse(text) : text,
  };
}

const JSON_HEAD = { "content-type": "application/json" };

function input(given: unknown, ask: Ask): Parameters<typeof request>[2] {
  if (given === undefined) return ask;
  return { ...ask, body: JSON.stringify(given), headers: { ...JSON_HEAD, ...ask.headers } };
}

/** Calls a handler, `Plain/echo` or `Store/key/put`, and waits for its result. */
export function call(
  target: Target,
  path: string,
  given?: unknown,
  ask: Ask = {},
): Promise<Answer> {
  return request("POST", `${target.ingress}/${target.word}/call/${path}`, input(given, ask));
}

/** A call that must succeed: its value. */
export async function value(target: Target, path: string, given?: unknown): Promise<unknown> {
  const { status, body } = await call(target, path, given);
  if (status === 200) return body;
  throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
}

/** Sends one way. Answers the id; throws unless it was accepted. */
export async function send(
  target: Target,
  path: string,
  given?: unknown,
  ask: Ask = {},
): Promise<string> {
  const url = `${target.ingress}/${target.word}/send/${path}`;
  const { status, body } = await request("POST", url, input(given, ask));
  const { invocationId } = (body ?? {}) as { invocationId?: string };
  if (status === 202 && invocationId !== undefined) return invocationId;
  throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
}

/** Waits for the result of an invocation. */
export function attach(target: Target, id: string): Promise<Answer> {
  return request("GET", `${target.ingress}/${target.word}/attach/${id}`);
}

/** The result of an invocation, 470 when it has none yet. */
export function output(target: Target, id: string): Promise<Answer> {
  return request("GET", `${target.ingress}/${target.word}/output/${id}`);
}

/**
 * `attach`, `output` or `lookup` by what an invocation is for
 * (docs/spec/ingress.md#attach-output-and-lookup).
 */
export function byTarget(target: Target, verb: string, body: unknown): Promise<Answer> {
  return request("POST", `${target.ingress}/${target.word}/${verb}`, { body });
}

/** Resolves an awakeable with a JSON value, or rejects it with a reason. */
export function awakeable(
  target: Target,
  id: string,
  verb: "resolve" | "reject",
  value: unknown,
): Promise<Answer> {
  const url = `${target.ingress}/${target.word}/awakeables/${id}/${verb}`;
  return request("POST", url, { body: verb === "resolve" ? JSON.stringify(value) : value });
}

/** `cancel`, `kill`, `pause`, `resume`, `restart-as-new`, `purge`: an operation of admin. */
export function operate(
  target: Target,
  verb: string,
  id: string,
  query?: string,
): Promise<Answer> {
  const url = `${target.admin}/invocations/${id}/${verb}`;
  return request("PATCH", url, query === undefined ? {} : { query });
}

/** Registers an endpoint, and answers what admin said. `more`: `use_http_11`, `force`. */
export function register(
  target: Target,
  uri: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return request("POST", `${target.admin}/deployments`, { body: { uri, ...more } });
}
