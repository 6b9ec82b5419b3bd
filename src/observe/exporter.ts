import { collect, type Collected } from "../collect.ts";
import type { Dial } from "../dial.ts";
import type { Code } from "../error_codes.ts";
import type { Clock, Log } from "../ports.ts";
import { settingUrl } from "../setting_url.ts";
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
  /** Asks the egress rules, as for endpoints. */
  readonly dial: Dial;
}

const BATCH_SPANS = 512;
const EVERY_MS = 1000;
const TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2000;
/** Of its answers, which are not used: a connection with more to read is closed. */
const ANSWER_BYTES_MAX = 64 * 1024;

/**
 * Sends spans in batches, one request at a time; callers never wait. Spans that the collector does not
 * accept are dropped and counted: they are worth less than the memory to keep them.
 */
export class Exporter {
  exported = 0;
  dropped = 0;
  readonly #options: ExporterOptions;
  readonly #url: string;
  readonly #encoder = new TextEncoder();
  /** Without a query, where some collectors have their tokens. */
  readonly #shown: string;
  #queue: Span[] = [];
  #isArmed = false;
  #isClosed = false;
  #isSending = false;

  /**
   * Throws `Failure` RT0002 for an endpoint that is no http or https URL without a user, and RT0038 for
   * one where the server may not connect.
   */
  constructor(options: ExporterOptions) {
    this.#options = options;
    const url = settingUrl("tracing-endpoint", options.endpoint, options.dial);
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
    const { resource, log } = this.#options;
    const collected = await this.#ask(this.#encoder.encode(otlpJson(batch, resource)), timeoutMs);
    const about = { collector: this.#shown, spans: batch.length };
    if (collected.kind === "answer") {
      const { status } = collected.head;
      if (status >= 200 && status <= 299) return true;
      log("warn", "The collector refused spans", { ...about, status });
    } else {
      log("warn", "Cannot reach the collector of spans", {
        ...about,
        ...whyNot(collected, timeoutMs),
      });
    }
    return false;
  }

  /** Redirects are not followed: the headers are for this collector. */
  #ask(body: Uint8Array, timeoutMs: number): Promise<Collected> {
    const { headers, dial, clock } = this.#options;
    return collect({
      url: this.#url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...headers,
        "content-length": String(body.length),
      },
      version: "h1",
      connectTimeoutMs: timeoutMs,
    }, { dial, clock, timeoutMs, bodyBytesMax: ANSWER_BYTES_MAX, body });
  }
}

/** Why there is no answer, for a log record. */
function whyNot(
  collected: Exclude<Collected, { readonly kind: "answer" }>,
  timeoutMs: number,
): { readonly cause: string; readonly code?: Code } {
  if (collected.kind === "timeout") return { cause: `no answer within ${timeoutMs} ms` };
  const { kind, message } = collected.failure;
  return { cause: message, ...(kind === "forbidden" && { code: "RT0038" }) };
}
