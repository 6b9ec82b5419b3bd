import { concatBytes } from "../../src/bytes.ts";
import {
  type Dial,
  type DialFailure,
  type DialHead,
  type DialListener,
  type DialRequest,
  type Exchange,
  ForbiddenAddress,
} from "../../src/dial.ts";
import { checkUrl } from "./check_url.ts";
import type { Egress } from "../../src/outbound/egress/egress.ts";

/**
 * Dials endpoints with `fetch`, in request-response mode only: nothing is sent before the request is
 * complete. Any version over TLS is reported as HTTP/1.1, because `fetch` does not tell. The time to
 * connect is not limited: `fetch` does not tell it from the wait for a response. Redirects are not
 * followed: they may lead where `egress` lets nothing go.
 */
export function fetchDial(egress: Egress): Pick<Dial, "open"> {
  return { open: (request, listener) => new FetchExchange(request, listener, egress) };
}

function isSecure({ url }: DialRequest): boolean {
  return url.slice(0, 6).toLowerCase() === "https:";
}

class FetchExchange implements Exchange {
  readonly #request: DialRequest;
  readonly #listener: DialListener;
  readonly #egress: Egress;
  readonly #abort = new AbortController();
  #pieces: Uint8Array[] = [];
  #isSent = false;
  #isOver = false;
  /** Resumes reading, while it is paused. */
  #goOn: (() => void) | undefined;
  #mayGoOn: Promise<void> | undefined;

  constructor(request: DialRequest, listener: DialListener, egress: Egress) {
    this.#egress = egress;
    this.#request = request;
    this.#listener = listener;
  }

  /** Always true: the whole request is buffered in memory anyway. */
  write(bytes: Uint8Array): boolean {
    if (!this.#isSent) this.#pieces.push(bytes);
    return true;
  }

  end(): void {
    if (this.#isSent || this.#isOver) return;
    this.#isSent = true;
    const body = this.#request.method === "GET" ? null : concatBytes(this.#pieces);
    this.#pieces = [];
    this.#exchange(body).catch((cause) => this.#failed(cause, "unreachable"));
  }

  abort(): void {
    this.#isOver = true;
    this.#pieces = [];
    this.#abort.abort();
    this.resume();
  }

  pause(): void {
    this.#mayGoOn ??= new Promise((resolve) => this.#goOn = resolve);
  }

  resume(): void {
    this.#goOn?.();
    this.#goOn = this.#mayGoOn = undefined;
  }

  async #exchange(body: Uint8Array<ArrayBuffer> | null): Promise<void> {
    const { url, method, headers } = this.#request;
    const { signal } = this.#abort;
    checkUrl(new URL(url), this.#egress);
    const answer = await fetch(url, { method, headers, body, signal, redirect: "manual" });
    if (this.#isOver) return await answer.body?.cancel().catch(() => {});
    this.#listener.head(headOf(answer));
    try {
      await this.#read(answer);
    } catch (cause) {
      this.#failed(cause, "reset");
    }
  }

  async #read({ body }: Response): Promise<void> {
    const reader = body?.getReader();
    while (reader) {
      await this.#mayGoOn;
      const { done, value } = await reader.read();
      if (this.#isOver) return await reader.cancel().catch(() => {});
      if (done) break;
      this.#listener.chunk(value);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listener.end();
  }

  #failed(cause: unknown, kind: DialFailure["kind"]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (cause instanceof ForbiddenAddress) {
      return this.#listener.failed({ kind: "forbidden", message: cause.message });
    }
    const said = cause instanceof Error ? cause.message : String(cause);
    // A server that only speaks HTTP/2 breaks the connection of an HTTP/1.1 request.
    const isFirst = this.#request.method === "GET" && !isSecure(this.#request);
    this.#listener.failed({
      kind,
      message: isFirst ? `${said} (if it speaks HTTP/2 only, register it without HTTP/1.1)` : said,
    });
  }
}

function headOf({ status, headers }: Response): DialHead {
  return { status, httpVersion: "HTTP/1.1", header: (name) => headers.get(name) ?? undefined };
}
