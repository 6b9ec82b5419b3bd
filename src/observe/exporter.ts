import type { Clock, Log } from "../ports.ts";
import { type Attributes, otlpJson, type Span } from "./otlp.ts";

export interface ExporterOptions {
  /** The collector, OTLP over HTTP. Without a path of its own: `/v1/traces`. */
  readonly endpoint: string;
  /** Sent with every request: credentials of the collector. */
  readonly headers: Readonly<Record<string, string>>;
  /** Spans that may wait to be sent. Further ones are dropped. */
  readonly spansMax: number;
  readonly resource: Attributes;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch?: typeof fetch;
}

const BATCH_SPANS = 512;
const EVERY_MS = 1000;
const TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Sends spans in batches, one request at a time; callers never wait. Spans that the collector does not
 * accept are dropped and counted: they are worth less than the memory to keep them.
 */
export class Exporter {
  exported = 0;
  dropped = 0;
  readonly #options: ExporterOptions;
  readonly #url: string;
  /** Without a query, where some collectors have their tokens. */
  readonly #shown: string;
  #queue: Span[] = [];
  #isArmed = false;
  #isClosed = false;
  #isSending = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    const url = new URL(options.endpoint);
    if (url.pathname === "/") url.pathname = "/v1/traces";
    this.#url = url.href;
    this.#shown = url.origin + url.pathname;
  }

  add(span: Span): void {
    if (this.#isClosed || this.#queue.length >= this.#options.spansMax) return void this.dropped++;
    this.#queue.push(span);
    if (this.#queue.length >= BATCH_SPANS) void this.#send(TIMEOUT_MS);
    else this.#arm();
  }

  /** Sends the spans that wait, for two seconds at most. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isSending = false;
    await this.#send(CLOSE_TIMEOUT_MS);
  }

  #arm(): void {
    if (this.#isArmed || this.#isClosed) return;
    this.#isArmed = true;
    const { clock } = this.#options;
    clock.at(clock.now() + EVERY_MS, () => {
      this.#isArmed = false;
      void this.#send(TIMEOUT_MS);
    });
  }

  async #send(timeoutMs: number): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH_SPANS);
      if (await this.#post(batch, timeoutMs)) this.exported += batch.length;
      else {
        // A server that stops does not wait for an unreachable collector.
        const lost = this.#isClosed ? this.#queue.splice(0).length : 0;
        this.dropped += batch.length + lost;
      }
      if (this.#queue.length < BATCH_SPANS && !this.#isClosed) break;
    }
    this.#isSending = false;
    if (this.#queue.length > 0) this.#arm();
  }

  /** Sends a batch. Resolves with whether the collector accepted it. Never rejects. */
  async #post(batch: readonly Span[], timeoutMs: number): Promise<boolean> {
    const { headers, resource, log, fetch: send = fetch } = this.#options;
    try {
      const response = await send(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: otlpJson(batch, resource),
        signal: AbortSignal.timeout(timeoutMs),
        // The headers are for this collector.
        redirect: "manual",
      });
      await response.body?.cancel();
      if (response.ok) return true;
      log("warn", "The collector refused spans", {
        collector: this.#shown,
        status: response.status,
        spans: batch.length,
      });
    } catch (cause) {
      log("warn", "Cannot reach the collector of spans", {
        collector: this.#shown,
        cause: reasonOf(cause),
        spans: batch.length,
      });
    }
    return false;
  }
}

/** The message of the cause, as `connect ECONNREFUSED 127.0.0.1:4318`: `fetch failed` has no details. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error ? cause.cause : undefined;
  return inner instanceof Error
    ? `${String(cause)}: ${inner.message || inner.name}`
    : String(cause);
}
