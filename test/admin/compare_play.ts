import { setTimeout as sleep } from "node:timers/promises";
import { startTarget, type Target, type TargetKind } from "../protocol/_target.ts";
import { type ClientEndpoint, startClientEndpoint } from "./clients_endpoint.ts";
import { bodyOf, type CompareRequest, nameOf } from "./compare_request.ts";

const REPEAT_MS = 5000;
const ANSWER_MS = 5000;
const SETTINGS = {
  "default-retry-policy.initial-interval": "60s",
  "default-retry-policy.max-interval": "60s",
};
const HEADERS = ["content-type", "allow", "location", "x-error-source", "x-id"] as const;

/** What two servers should have in common. */
export interface Compared {
  readonly status: number | "no answer";
  readonly headers: Readonly<Record<string, string>>;
  /** Ids and times blurred, members and lists sorted; a text when it is no JSON. */
  readonly body: unknown;
}

interface Stage {
  readonly target: Target;
  readonly endpoint: ClientEndpoint;
  readonly names: Map<string, string>;
}

/** Puts all requests, in order, to a fresh server. */
export async function putAll(
  kind: TargetKind,
  requests: readonly CompareRequest[],
): Promise<Compared[]> {
  const endpoint = await startClientEndpoint();
  const target = await startTarget(SETTINGS, kind);
  const stage = { target, endpoint, names: new Map([["endpoint", endpoint.url]]) };
  endpoint.breaks("broken", true);
  const answers: Compared[] = [];
  try {
    for (const request of requests) answers.push(await put(stage, request));
  } finally {
    await target.close();
    await endpoint.close();
  }
  return answers;
}

async function put(stage: Stage, request: CompareRequest): Promise<Compared> {
  const deadline = Date.now() + REPEAT_MS;
  for (;;) {
    const { response, text } = await ask(stage, request);
    if (response === undefined) return { status: "no answer", headers: {}, body: "" };
    const { until = "" } = request;
    if (text.includes(until)) {
      if (request.learns) learn(stage, { name: request.learns, text });
      return compared(stage, { response, text });
    }
    if (Date.now() > deadline) throw new Error(`${nameOf(request)}: ${until} never came: ${text}`);
    await sleep(30);
  }
}

interface Read {
  readonly response: Response;
  readonly text: string;
}

/** Without a response when none came in time: some wait for ever, and may. */
async function ask(
  stage: Stage,
  request: CompareRequest,
): Promise<Read | { readonly response: undefined; readonly text: "" }> {
  const { port = "admin", method, path, headers, contentType = "application/json" } = request;
  const { admin, ingress, word } = stage.target;
  const base = port === "admin" ? admin : `${ingress}/${word}`;
  const body = bodyOf(request);
  const isAnnounced = body !== undefined && contentType !== "";
  const init = {
    method,
    headers: { ...headers, ...(isAnnounced ? { "content-type": contentType } : {}) },
    // Bytes: a text would be announced by fetch itself.
    ...(body === undefined ? {} : { body: new TextEncoder().encode(fill(stage, body)) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  };
  try {
    const response = await fetch(base + fill(stage, path), init);
    return { response, text: await response.text() };
  } catch (cause) {
    if (cause instanceof Error && cause.name === "TimeoutError") {
      return { response: undefined, text: "" };
    }
    throw cause;
  }
}

function fill({ names }: Stage, text: string): string {
  return text.replace(/\$(\w+)/g, (whole, name: string) => names.get(name) ?? whole);
}

function learn({ names }: Stage, { name, text }: { readonly name: string; readonly text: string }) {
  const id = /"(?:id|invocationId)":"(\w+)"/.exec(text)?.[1];
  if (id !== undefined) names.set(name, id);
}

const BLURRED: readonly (readonly [RegExp, string])[] = [
  [/inv_1[0-9a-zA-Z]{20,}/g, "INV"],
  [/dp_1[0-9a-zA-Z]{22}/g, "DP"],
  [/sub_1[0-9a-zA-Z]{22}/g, "SUB"],
  [/(sign|prom)_1[-\w]{20,}/g, "AWAKEABLE"],
  [/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?/g, "TIME"],
  [/http:\/\/(127\.0\.0\.1|\[[\da-f:]+\]|[\d.]+):\d{3,}/g, "URL"],
  [/(?<="last_modified_millis_since_epoch":)\d{13}/g, "0"],
  [/restate_code/g, "svc_code"],
  [/(?<="client.id":")restate/g, "svc"],
  [/\/restate\//g, "/svc/"],
  [/x-restate-/g, "x-svc-"],
];

function blur(text: string): string {
  return BLURRED.reduce((all, [pattern, by]) => all.replace(pattern, by), text);
}

function compared({ target }: Stage, { response, text }: Read): Compared {
  const headers: Record<string, string> = {};
  for (const name of HEADERS) {
    const value = response.headers.get(name.replace("x-", `x-${target.word}-`));
    if (value !== null) headers[name] = blur(value).replaceAll(", ", ",");
  }
  const isJson = headers["content-type"]?.startsWith("application/json") ?? false;
  const body = isJson && text !== "" ? sorted(JSON.parse(blur(text))) : blur(text);
  return { status: response.status, headers, body };
}

/** Neither server promises an order of what it lists. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted).toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => a < b ? -1 : 1);
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}
