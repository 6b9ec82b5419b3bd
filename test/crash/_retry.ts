import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "../support/client.ts";

export interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly key?: string;
}

export interface Answered {
  readonly status: number;
  readonly body: unknown;
  /** `x-svc-id`, or empty. */
  readonly id: string;
}

/**
 * Asks until it is answered for good: again after a broken connection, 408, 425, 429 and 5xx
 * (interfaces.md, retry rule). Only for requests that may be repeated. Throws after `withinMs`.
 */
export async function untilAnswered(
  url: string,
  { method = "POST", body, key }: Asked = {},
  withinMs = 40_000,
): Promise<Answered> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers["content-type"] = "application/json";
  if (key !== undefined) headers["idempotency-key"] = key;
  const signal = AbortSignal.timeout(withinMs);
  let last = "nothing yet";
  while (!signal.aborted) {
    const init = {
      method,
      headers,
      signal,
      body: body === undefined ? null : JSON.stringify(body),
    };
    const answer = await fetch(url, init).then(read).catch(String);
    if (typeof answer !== "string" && !isWorthAnother(answer.status)) return answer;
    last = typeof answer === "string" ? answer : JSON.stringify(answer);
    await sleep(20 + Math.random() * 40);
  }
  throw new Error(`Gave up on ${method} ${url}, key ${key}: ${last}`);
}

function isWorthAnother(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

async function read(response: Response): Promise<Answered> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  const body = isJson && text !== "" ? JSON.parse(text) : text;
  const id = response.headers.get("x-svc-id") ?? response.headers.get("x-restate-id") ?? "";
  return { status: response.status, body, id };
}

/** A call of `Service/handler` or `Service/key/handler` that only ever happens once. */
export function callOnce(server: Address, path: string, ask: Asked): Promise<Answered> {
  return untilAnswered(`${server.ingress}/svc/call/${path}`, ask);
}

/** As `callOnce`, one way: answers the invocation's id once it was accepted. */
export async function sendOnce(server: Address, path: string, ask: Asked): Promise<string> {
  const { status, body, id } = await untilAnswered(`${server.ingress}/svc/send/${path}`, ask);
  if (status !== 202) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return id;
}

/** Waits for the result of a target object (docs/spec/ingress.md#attach-output-and-lookup). */
export function attach(server: Address, target: object): Promise<Answered> {
  return untilAnswered(`${server.ingress}/svc/attach`, { body: target });
}

/** An operation of the admin API on an invocation: cancel, kill, pause, resume or purge. */
export async function operate(server: Address, id: string, operation: string): Promise<number> {
  const url = `${server.admin}/invocations/${id}/${operation}`;
  return (await untilAnswered(url, { method: "PATCH" })).status;
}
