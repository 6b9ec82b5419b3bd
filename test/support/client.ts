import type { Endpoint } from "./endpoint.ts";

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

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const { status, headers } = response;
  const isJson = headers.get("content-type")?.startsWith("application/json") ?? false;
  return { status, headers, body: text === "" ? undefined : isJson ? JSON.parse(text) : text };
}

async function post(url: string, input: unknown, { headers, query, signal }: Ask): Promise<Answer> {
  const init: RequestInit = { method: "POST", headers: { ...headers }, signal: signal ?? null };
  if (input !== undefined) {
    init.body = JSON.stringify(input);
    init.headers = { "content-type": "application/json", ...headers };
  }
  return await read(await fetch(query === undefined ? url : `${url}?${query}`, init));
}

/** Where a server is reached. */
export interface Address {
  readonly ingress: string;
  readonly admin: string;
  /** Shown with each request. Absent: the server asks for none. */
  readonly token?: string;
}

function headersOf({ token }: Pick<Address, "token">): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** With the token of the server, unless the request shows its own. */
function shown(server: Pick<Address, "token">, ask: Ask): Ask {
  return { ...ask, headers: { ...headersOf(server), ...ask.headers } };
}

/** Calls a handler: `Greeter/greet`, `Counter/key/add`. */
export function call(
  server: Address,
  path: string,
  input?: unknown,
  ask: Ask = {},
): Promise<Answer> {
  return post(`${server.ingress}/svc/call/${path}`, input, shown(server, ask));
}

/** Sends one way. Answers when it was accepted. */
export function send(
  server: Address,
  path: string,
  input?: unknown,
  ask: Ask = {},
): Promise<Answer> {
  return post(`${server.ingress}/svc/send/${path}`, input, shown(server, ask));
}

/** A call that must succeed: its value. */
export async function value(server: Address, path: string, input?: unknown): Promise<unknown> {
  const { status, body } = await call(server, path, input);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Registers an endpoint, and answers what admin said. */
export function register(
  server: Address,
  endpoint: Pick<Endpoint, "url" | "transport">,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const body = { uri: endpoint.url, use_http_11: endpoint.transport === "h1", ...more };
  return post(`${server.admin}/deployments`, body, shown(server, {}));
}

/** Awakeables, attach and output: any request to ingress below `/svc/`. A string is sent as it is. */
export async function ask(
  server: Address,
  path: string,
  given?: unknown,
): Promise<Answer> {
  const url = `${server.ingress}/svc/${path}`;
  const isJson = given !== undefined && typeof given !== "string";
  if (isJson) return await post(url, given, shown(server, {}));
  const init = given === undefined ? {} : { method: "POST", body: given };
  return await read(await fetch(url, { ...init, headers: headersOf(server) }));
}

/** `cancel`, `kill`, `pause`, `resume`, `purge`: an operation of admin on an invocation, which may be refused. */
export async function tryToOperate(server: Address, verb: string, id: string): Promise<Answer> {
  const url = `${server.admin}/invocations/${id}/${verb}`;
  return await read(await fetch(url, { method: "PATCH", headers: headersOf(server) }));
}

/** As `tryToOperate`. Throws when it is refused. */
export async function operate(server: Address, verb: string, id: string): Promise<Answer> {
  const answer = await tryToOperate(server, verb, id);
  if (answer.status < 300) return answer;
  throw new Error(`"${verb}" was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** The rows of a query. Throws when it is refused. */
export async function query(server: Address, sql: string): Promise<Record<string, unknown>[]> {
  const ask = shown(server, { headers: { accept: "application/json" } });
  const { status, body } = await post(`${server.admin}/query`, { query: sql }, ask);
  if (status === 200) return (body as { rows: Record<string, unknown>[] }).rows;
  throw new Error(`The query was answered with ${status}: ${JSON.stringify(body)}`);
}

export async function get(url: string): Promise<Answer> {
  return await read(await fetch(url));
}

/** A request of an operator with a JSON body, such as `PATCH /services/Greeter`. */
export async function manage(
  server: Address,
  methodAndPath: string,
  body: unknown,
): Promise<Answer> {
  const [method = "", path = ""] = methodAndPath.split(" ");
  const headers = { "content-type": "application/json", ...headersOf(server) };
  const init = { method, headers, body: JSON.stringify(body) };
  return await read(await fetch(server.admin + path, init));
}
