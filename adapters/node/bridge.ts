import type { IncomingMessage, ServerResponse } from "node:http";
import { FastResponse, NodeRequest } from "srvx/node";
import {
  type BodyBytes,
  fetchReader,
  type RequestReader,
} from "../../src/ingress/request_reader.ts";
import type { ListenOptions } from "../platform/listener.ts";
import { sendAnswer } from "./send_answer.ts";

/**
 * Makes `Response` cheap on Node. To be called once, before the first response: the global class
 * costs more than the HTTP exchange around it (docs/spec/runtimes.md#bridge-to-fetch). This one
 * keeps its arguments and makes a real response only when it is read.
 */
export function installBridge(): void {
  globalThis.Response = FastResponse as unknown as typeof Response;
}

/** Answers a request by `handler`. What fails is logged, and answered with 500 where that is still possible. */
export function bridgeTo(
  { handler, log }: Pick<ListenOptions, "handler" | "log">,
): (message: IncomingMessage, response: ServerResponse<IncomingMessage>) => void {
  return (message, response) => {
    const request = new NodeRequest({ req: message, res: response });
    const unsent = (cause: unknown): void => {
      log("error", "Cannot send an answer", { cause: stackOf(cause) });
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    };
    const send = (answer: Response): void => {
      try {
        sendAnswer(response, answer)?.catch(unsent);
      } catch (cause) {
        unsent(cause);
      }
    };
    const failed = (cause: unknown): void => {
      // A caller that went away in the middle of its body is no failure of ours.
      if (request.signal.aborted) log("debug", "The caller went away", { cause: String(cause) });
      else log("error", "A request handler failed", { cause: stackOf(cause) });
      send(new Response("internal server error", { status: 500 }));
    };
    try {
      const answer = handler(request);
      if (answer instanceof Response) send(answer);
      else answer.then(send, failed);
    } catch (cause) {
      failed(cause);
    }
  };
}

/**
 * Reads requests that `listen` made straight from Node's message, without building the `Headers`,
 * `URL` and body stream of Fetch. Any other request is read by the Fetch standard.
 */
export const nodeReader: RequestReader = {
  target: (request) => sourceOf(request)?.url ?? fetchReader.target(request),

  headers: (request) => {
    const source = sourceOf(request);
    if (!source) return fetchReader.headers(request);
    return source.httpVersionMajor === 1 ? source.rawHeaders : withoutPseudo(source.rawHeaders);
  },

  body: (request, options) => {
    const source = sourceOf(request);
    // Another reader has begun with the body, so the rest can be read by Fetch only.
    if (!source || source.readableFlowing !== null) return fetchReader.body(request, options);
    return readAll(source, options.bytesMax);
  },

  address: (request) => sourceOf(request)?.socket.remoteAddress,

  onLeave: (request, leave) => {
    const answer = (request as Bridged).runtime?.node?.res;
    // Every response emits `close`. An abort signal costs more than all of ingress.
    if (answer?.closed || answer?.destroyed) leave();
    else if (answer) answer.once("close", leave);
    else fetchReader.onLeave(request, leave);
  },
};

interface Bridged {
  readonly runtime?: {
    readonly node?: { readonly req: IncomingMessage; readonly res?: ServerResponse };
  };
}

function sourceOf(request: Request): IncomingMessage | undefined {
  return (request as Bridged).runtime?.node?.req;
}

/** HTTP/2 sends method, path and the like as headers whose names begin with a colon, first of all. */
function withoutPseudo(flat: readonly string[]): readonly string[] {
  let at = 0;
  while (flat[at]?.startsWith(":")) at += 2;
  return flat.slice(at);
}

/** Resolves with undefined once there are more than `bytesMax` bytes; later ones are dropped. */
function readAll(source: IncomingMessage, bytesMax: number): Promise<BodyBytes> {
  return new Promise((resolve, reject) => {
    if (source.destroyed) return reject(gone());
    let chunks: Uint8Array[] | undefined = [];
    let size = 0;
    source.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size <= bytesMax) return void chunks?.push(chunk);
      chunks = undefined;
      resolve(undefined);
    });
    source.once("end", () => {
      if (chunks) resolve(joined(chunks));
      chunks = undefined;
    });
    source.once("error", reject);
    // Every message closes. An error has a stack, and making one costs as much as the exchange.
    source.once("close", () => {
      if (chunks) reject(gone());
    });
  });
}

function gone(): DOMException {
  return new DOMException("The caller went away", "AbortError");
}

/** One array that owns its memory: a slice would keep a socket's whole read buffer alive. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (first === undefined || chunks.length > 1) {
    const whole = Buffer.concat(chunks);
    for (const chunk of chunks) release(chunk);
    return whole;
  }
  return first.buffer.byteLength > 2 * first.byteLength ? new Uint8Array(first) : first;
}

/**
 * Frees the memory of a chunk that nobody reads any more, where the runtime can (Node 22 and later). Until it
 * is collected it counts as growth of the heap, all of which is marked after some MiB of growth.
 */
function release(chunk: Uint8Array): void {
  const buffer: ArrayBufferLike & { transfer?(bytes: number): unknown } = chunk.buffer;
  if (chunk.byteLength === buffer.byteLength) buffer.transfer?.(0);
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? cause.stack ?? String(cause) : String(cause);
}
