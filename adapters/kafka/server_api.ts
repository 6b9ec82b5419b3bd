import { encodeBatch } from "../../src/kafka/batch_codec.ts";
import type { pinnedFetch, PinnedRequest, PinnedResponse } from "../tls/pinned_fetch.ts";
import type { Letter, LettersBody } from "../../src/kafka/letter.ts";
import type { Ingested, KafkaPlan, RecordBatch, SidecarReport } from "../../src/model/kafka.ts";

/** What the server makes of a batch. `away`: there was no answer, or one that says to come again. */
export type Taken =
  | { readonly kind: "taken"; readonly ingested: Ingested }
  | { readonly kind: "unknown" }
  | { readonly kind: "tooLarge"; readonly message: string }
  | { readonly kind: "away"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

/**
 * A plan, `undefined` where the known one still holds, or that there is none to be had now. `ended`: the
 * server whose sidecar this is has ended in order.
 */
export type Planned = KafkaPlan | undefined | "ended" | { readonly problem: string };

export interface ServerOptions {
  /** Addresses of admin ports, of which any will do, with a path prefix if there is one. */
  readonly urls: readonly string[];
  readonly token: string;
  /** The server has started this sidecar, or another one for whose crash it stands in. */
  readonly isOwn?: boolean;
  /** Asks instead of `fetch`. */
  readonly ask?: ReturnType<typeof pinnedFetch> | undefined;
}

const PLAN_WAIT_MS = 25_000;
const ANSWER_MS = 30_000;

/** The routes of a server under `/internal/kafka`. Goes to the next address when one does not answer. */
export class ServerApi {
  readonly #options: ServerOptions;
  #current = 0;
  #answeredAt = Date.now();

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** When a server last answered anything, or when this began: milliseconds since the epoch. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Waits until there is another plan than the known one, for some time. */
  async plan(known: string | undefined, signal: AbortSignal): Promise<Planned> {
    const query = new URLSearchParams({
      ...(known !== undefined && { known, wait: String(PLAN_WAIT_MS) }),
      ...(this.#options.isOwn && { own: "true" }),
    });
    const answer = await this.#ask(`plan?${query}`, { method: "GET" }, {
      signal,
      withinMs: PLAN_WAIT_MS + ANSWER_MS,
    });
    if ("problem" in answer) return answer;
    if (answer.status === 304) return undefined;
    if (answer.status === 410) return "ended";
    if (answer.status === 200 && isPlan(answer.json)) return answer.json;
    return { problem: messageOf(answer) };
  }

  /** Hands a batch over, once. */
  async records(batch: RecordBatch, signal: AbortSignal): Promise<Taken> {
    const init = { method: "POST", body: encodeBatch(batch) };
    const answer = await this.#ask("records", init, { signal, withinMs: ANSWER_MS });
    if ("problem" in answer) return { kind: "away", message: answer.problem };
    const message = messageOf(answer);
    if (answer.status === 200 && isIngested(answer.json)) {
      return { kind: "taken", ingested: answer.json };
    }
    if (answer.status === 404) return { kind: "unknown" };
    if (answer.status === 413) return { kind: "tooLarge", message };
    const isAway = answer.status > 500 || answer.status === 429;
    return { kind: isAway ? "away" : "refused", message };
  }

  /** Says how things are. Answers whether it was heard. */
  async report(report: SidecarReport, signal: AbortSignal): Promise<boolean> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(report) };
    const answer = await this.#ask("reports", init, { signal, withinMs: ANSWER_MS });
    return "status" in answer && answer.status < 300;
  }

  /** Says which dead letters are written or cannot be, and gets others. Undefined: there was no answer. */
  async letters(body: LettersBody, signal: AbortSignal): Promise<readonly Letter[] | undefined> {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = await this.#ask("letters", init, { signal, withinMs: ANSWER_MS });
    if (!("status" in answer) || answer.status !== 200) return undefined;
    const { letters } = (answer.json ?? {}) as { letters?: readonly Letter[] };
    return Array.isArray(letters) ? letters : undefined;
  }

  async #ask(
    path: string,
    init: PinnedRequest,
    limits: Limits,
  ): Promise<Answer | { problem: string }> {
    const { urls, token, ask = askPlainly } = this.#options;
    const asked = this.#current;
    const base = urls[asked % urls.length] ?? "";
    const headers = { ...init.headers, authorization: `Bearer ${token}` };
    const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.withinMs)]);
    try {
      const response = await ask(`${base}/internal/kafka/${path}`, { ...init, headers, signal });
      const text = await response.text();
      this.#answeredAt = Date.now();
      if (response.status >= 500) this.#leave(asked);
      return { status: response.status, json: parsed(text), text };
    } catch (cause) {
      if (!limits.signal.aborted) this.#leave(asked);
      return { problem: `The server at ${base} does not answer: ${reasonOf(cause)}` };
    }
  }

  /** Goes to the next address, once for all requests of one. */
  #leave(asked: number): void {
    if (this.#current === asked) this.#current++;
  }
}

/** Something else may answer at the address: a proxy, a page. */
function isPlan(json: unknown): json is KafkaPlan {
  const { version, clusters, subscriptions } = (json ?? {}) as Partial<KafkaPlan>;
  return typeof version === "string" && Array.isArray(clusters) && Array.isArray(subscriptions);
}

function isIngested(json: unknown): json is Ingested {
  return Number.isSafeInteger((json as Partial<Ingested> | undefined)?.next);
}

/** Redirects are not followed: the token is for this server. */
function askPlainly(url: string, init: PinnedRequest): Promise<PinnedResponse> {
  return fetch(url, { ...init as RequestInit, redirect: "manual" });
}

interface Limits {
  readonly signal: AbortSignal;
  readonly withinMs: number;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
  readonly text: string;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const SHOWN_MAX = 300;

function messageOf({ status, json, text }: Answer): string {
  const { message } = (json ?? {}) as { message?: unknown };
  return `The server answers ${status}: ${String(message ?? text).slice(0, SHOWN_MAX)}`;
}

function reasonOf(cause: unknown): string {
  const inner = (cause as { cause?: { code?: string; message?: string } }).cause;
  return inner?.code ?? inner?.message ?? (cause as Error).message;
}
