import { concatBytes, copyBytes } from "../../bytes.ts";
import type {
  Dial,
  DialFailure,
  DialHead,
  DialListener,
  DialRequest,
  Exchange,
} from "../../dial.ts";
import { NoCredentials } from "./credentials.ts";
import { FunctionError, type FunctionResponse, parseResponse, printEvent } from "./envelope.ts";

/** What a function exchange needs to send its request to the function service. */
export interface FunctionCall {
  readonly dial: Dial;
  readonly request: DialRequest;
  /** Path as the function sees it: `/invoke/Svc/run`. */
  readonly path: string;
  /** Makes the request that carries a payload. Throws or rejects with `NoCredentials`. */
  readonly wrap: (payload: Uint8Array) => DialRequest | Promise<DialRequest>;
  /** The largest request body. A larger one is not sent; the exchange gets status 413. */
  readonly bodyBytesMax: number;
  /** The largest response of the function service that is read. */
  readonly answerBytesMax: number;
}

/**
 * One call of a function as an exchange with an endpoint: what is written is buffered and sent as
 * one event when the request ends, and the listener gets the response as a whole
 * (docs/spec/service-protocol.md#functions).
 */
export class FunctionExchange implements Exchange {
  readonly #call: FunctionCall;
  readonly #listener: DialListener;
  #sent: Uint8Array[] = [];
  #size = 0;
  #ended = false;
  #over = false;
  #inner: Exchange | undefined;
  #head: DialHead | undefined;
  #responseParts: Uint8Array[] = [];
  #receivedBytes = 0;

  constructor(call: FunctionCall, listener: DialListener) {
    this.#call = call;
    this.#listener = listener;
  }

  write(bytes: Uint8Array): boolean {
    this.#size += bytes.byteLength;
    if (this.#size > this.#call.bodyBytesMax) this.#sent = [];
    else if (!this.#ended && !this.#over) this.#sent.push(bytes);
    return true;
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // The listener must not be called from within `end`: it may not have this exchange yet.
    Promise.resolve().then(() => this.#send()).catch((cause) => this.#failed(cause));
  }

  abort(): void {
    this.#over = true;
    this.#sent = [];
    this.#responseParts = [];
    this.#inner?.abort();
  }

  /** The whole response is in memory already, so there is nothing to pause. */
  pause(): void {}

  resume(): void {}

  async #send(): Promise<void> {
    if (this.#over) return;
    const { dial, request, path, wrap, bodyBytesMax } = this.#call;
    if (this.#size > bodyBytesMax) {
      return this.#answer({ status: 413, headers: new Map(), body: new Uint8Array(0) });
    }
    const payload = printEvent(request, { path, body: concatBytes(this.#sent) });
    this.#sent = [];
    const wrapped = await wrap(payload);
    if (this.#over) return;
    this.#inner = dial.open(wrapped, {
      head: (head) => this.#head = head,
      chunk: (bytes) => this.#chunk(bytes),
      end: () => this.#received(),
      failed: (failure) => this.#fail(failure),
      drain: () => {},
    });
    this.#inner.write(payload);
    this.#inner.end();
  }

  #chunk(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#receivedBytes += bytes.byteLength;
    const { answerBytesMax } = this.#call;
    if (this.#receivedBytes <= answerBytesMax) {
      return void this.#responseParts.push(copyBytes(bytes));
    }
    this.#inner?.abort();
    this.#fail({
      kind: "refused",
      message: `the function answered more than ${answerBytesMax} bytes`,
    });
  }

  #received(): void {
    const head = this.#head;
    if (this.#over || !head) return;
    const payload = concatBytes(this.#responseParts);
    this.#responseParts = [];
    if (head.status < 200 || head.status > 299) return this.#refused(head, payload);
    try {
      const isError = head.header("x-amz-function-error") !== undefined;
      this.#answer(parseResponse(payload, isError));
    } catch (cause) {
      this.#failed(cause);
    }
  }

  /** The function service did not call the function. */
  #refused(head: DialHead, payload: Uint8Array): void {
    const { status } = head;
    // Too many calls at once, and a payload that is too large: these statuses mean the same between
    // HTTP endpoints.
    if (status === 429 || status === 413) {
      const retryAfter = head.header("retry-after");
      const headers = new Map(retryAfter === undefined ? [] : [["retry-after", retryAfter]]);
      return this.#answer({ status, headers, body: payload });
    }
    const message = `the function service answered ${status}: ${reasonOf(payload)}`;
    this.#fail({ kind: status >= 500 ? "reset" : "refused", message });
  }

  #answer({ status, headers, body }: FunctionResponse): void {
    if (this.#over) return;
    const head: DialHead = {
      status,
      httpVersion: "HTTP/1.1",
      header: (name) => headers.get(name),
    };
    this.#listener.head(head);
    if (body.byteLength > 0 && !this.#over) this.#listener.chunk(body);
    if (this.#over) return;
    this.#over = true;
    this.#listener.end();
  }

  #failed(cause: unknown): void {
    if (cause instanceof NoCredentials) {
      return this.#fail({ kind: "refused", message: cause.message });
    }
    if (!(cause instanceof FunctionError)) throw cause;
    this.#fail({ kind: "reset", message: cause.message });
  }

  #fail(failure: DialFailure): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.failed(failure);
  }
}

const REASON_MAX = 500;

/** `{"Message": …}` or `{"message": …}`, else the text itself, shortened. */
function reasonOf(payload: Uint8Array): string {
  const text = new TextDecoder().decode(payload);
  try {
    const { message, Message } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const found = message ?? Message;
    if (typeof found === "string") return found.slice(0, REASON_MAX);
  } catch {
    // Not JSON: the text itself is the reason.
  }
  return text === "" ? "it does not say why" : text.slice(0, REASON_MAX);
}
