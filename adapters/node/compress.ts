import { Duplex } from "node:stream";
import type { ReadableWritablePair } from "node:stream/web";
import * as zlib from "node:zlib";
import type { Handler } from "../platform/listener.ts";

// Some versions of Node have none of it.
const { createZstdCompress } = zlib as { readonly createZstdCompress?: () => Duplex };
/** What answers take: the best that is still quicker than the network. */
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };

/** How an answer can be compressed, the most welcome first (docs/spec/admin.md#requests). */
const ENCODERS: ReadonlyMap<string, () => Duplex> = new Map([
  ...(createZstdCompress ? [["zstd", () => createZstdCompress()] as const] : []),
  ["br", () => zlib.createBrotliCompress(BROTLI)],
  ["gzip", () => zlib.createGzip()],
]);

/**
 * Compresses what a handler answers, for those who say that they can read it: Node does not, and Deno
 * does it by itself. What has no content type has no body.
 */
export function compressing(handler: Handler): Handler {
  return async (request) => {
    const response = await handler(request);
    if (request.method === "HEAD" || !response.headers.has("content-type")) return response;
    const coding = codingFor(request.headers.get("accept-encoding") ?? "");
    response.headers.append("vary", "accept-encoding");
    const encoder = ENCODERS.get(coding ?? "")?.();
    if (coding === undefined || !encoder || !response.body) return response;
    const headers = new Headers(response.headers);
    headers.set("content-encoding", coding);
    headers.delete("content-length");
    const pair = Duplex.toWeb(encoder) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
    const body = response.body.pipeThrough(pair as never);
    return new Response(body, { status: response.status, headers });
  };
}

/** What a caller likes best, and of what it likes alike what we do. Undefined: it named none of ours. */
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
