import { Duplex } from "node:stream";
import type { ReadableWritablePair } from "node:stream/web";
import * as zlib from "node:zlib";
import type { Handler } from "../platform/listener.ts";

// Older versions of Node do not have it.
const { createZstdCompress } = zlib as { readonly createZstdCompress?: () => Duplex };
/** The best quality that is still quicker than the network. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/** Content codings, in our order of preference (docs/spec/admin.md#requests). */
const ENCODERS: ReadonlyMap<string, () => Duplex> = new Map([
  ...(createZstdCompress ? [["zstd", () => createZstdCompress()] as const] : []),
  ["br", () => zlib.createBrotliCompress(BROTLI)],
  ["gzip", () => zlib.createGzip()],
]);

/**
 * Answers that are compressed at once: an encoder of Brotli holds megabytes until its client has read
 * all. Further answers are sent as they are.
 */
const ENCODERS_MAX = 16;

/**
 * Compresses the responses of a handler for callers that accept it. Deno does it by itself, Node does
 * not. A response without content type has no body.
 */
export function compressing(handler: Handler): Handler {
  let encoders = 0;
  return async (request) => {
    const response = await handler(request);
    const type = response.headers.get("content-type");
    // Events are sent one by one, which an encoder would gather.
    if (request.method === "HEAD" || !type || type === "text/event-stream") return response;
    // Files of the UI were compressed when they were built.
    if (response.headers.has("content-encoding")) return response;
    const coding = codingFor(request.headers.get("accept-encoding") ?? "");
    response.headers.set("vary", "accept-encoding");
    if (coding === undefined || !response.body || encoders >= ENCODERS_MAX) return response;
    const encoder = ENCODERS.get(coding)!();
    encoders++;
    encoder.once("close", () => encoders--);
    const headers = new Headers(response.headers);
    headers.set("content-encoding", coding);
    headers.delete("content-length");
    const pair = Duplex.toWeb(encoder) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
    const body = response.body.pipeThrough(pair as never);
    return new Response(body, { status: response.status, headers });
  };
}

/** The coding with the highest weight, at equal weights by our order. Undefined: none of ours. */
function codingFor(accepted: string): string | undefined {
  const liked = new Map(
    accepted.toLowerCase().split(",").map((one) => {
      const [name = "", weight] = one.split(";").map((part) => part.trim());
      return [name, weight?.startsWith("q=") ? Number(weight.slice(2)) : 1] as const;
    }),
  );
  const weightOf = (name: string) => liked.get(name) ?? 0;
  const ours = [...ENCODERS.keys()].filter((name) => weightOf(name) > 0);
  return ours.toSorted((a, b) => weightOf(b) - weightOf(a))[0];
}
