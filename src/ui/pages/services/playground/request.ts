import { fetchIngress } from "../../../data/ingress.ts";
import { DIALECTS, header } from "../../../../names.ts";
import type { Handler, Service } from "../../../data/catalog.ts";
import { ingressUrl } from "../../../data/server.ts";
import { type Pair, recordOf } from "../../../widgets/pairs.tsx";

/** What is sent to a handler. */
export interface Call {
  readonly service: string;
  readonly handler: string;
  /** Of objects and workflows. */
  readonly key: string;
  /** Empty: none. */
  readonly scope: string;
  /** Within a scope. Empty: none. */
  readonly limitKey: string;
  readonly mode: "call" | "send";
  /** Of a send, such as `10s`. Empty: at once. */
  readonly delay: string;
  readonly idempotencyKey: string;
  readonly headers: readonly Pair[];
  /** The body as text. Empty: none is sent. */
  readonly body: string;
  readonly contentType: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly Pair[];
  readonly body: string;
  readonly ms: number;
  /** Of the invocation, if the answer names it. */
  readonly id: string | undefined;
}

/** Names of HTTP headers that the forms have fields for. */
const IDEMPOTENCY = "idempotency-key";
const CONTENT_TYPE = "content-type";

/** Where a call goes. Every part of the path may hold any text. */
export function urlOf(call: Call, { ty }: Pick<Service, "ty">) {
  const { service, handler, key, scope, limitKey, mode, delay } = call;
  const place = scope === "" ? [] : ["scope", scope];
  const parts = [...place, mode, service, ...(ty === "Service" ? [] : [key]), handler];
  const url = new URL(ingressUrl(parts.map(encodeURIComponent).join("/")));
  if (mode === "send" && delay.trim() !== "") url.searchParams.set("delay", delay.trim());
  if (limitKey !== "") url.searchParams.set("limit-key", limitKey);
  return url.href;
}

/** All headers of a call. */
export function headersOf({ headers, idempotencyKey, contentType, body }: Call) {
  return {
    ...(body !== "" && { [CONTENT_TYPE]: contentType }),
    ...(idempotencyKey !== "" && { [IDEMPOTENCY]: idempotencyKey }),
    ...recordOf(headers),
  };
}

/** Sends a call. Throws `TypeError` when there is no answer that a page may read. */
export async function send(call: Call, service: Service, signal: AbortSignal): Promise<Answer> {
  const startedAt = performance.now();
  const response = await fetchIngress(urlOf(call, service), {
    method: "POST",
    headers: headersOf(call),
    ...(call.body !== "" && { body: call.body }),
    signal,
  });
  const body = await response.text();
  const ms = performance.now() - startedAt;
  return {
    status: response.status,
    headers: [...response.headers],
    ...{ body, ms },
    id: idOf(response.headers, body),
  };
}

function idOf(headers: Headers, body: string): string | undefined {
  for (const dialect of DIALECTS) {
    const id = headers.get(header(dialect, "id"));
    if (id !== null) return id;
  }
  try {
    const { invocationId } = JSON.parse(body) as { invocationId?: unknown };
    return typeof invocationId === "string" ? invocationId : undefined;
  } catch {
    return undefined;
  }
}

/** The content type that a handler takes, as its description has it. */
export function contentTypeOf({ input_description: input }: Handler): string {
  return input?.includes("/") && !input.includes("*") ? input : "application/json";
}

/** Whether a handler takes no body at all. */
export function takesNothing({ input_description: input }: Handler): boolean {
  return input === "none";
}
