import { fetchReader, type RequestReader } from "../../src/ingress/request_reader.ts";
import type { Listener, ListenOptions } from "../platform/listener.ts";

/** Where requests come from, which a `Request` does not say. */
const addresses = new WeakMap<Request, Deno.NetAddr>();

/** Reads requests by Fetch, and knows their addresses. */
export const denoReader: RequestReader = {
  ...fetchReader,
  address: (request) => addresses.get(request)?.hostname,
};

/**
 * One port for HTTP/1.1 and cleartext HTTP/2: `Deno.serve` speaks both. Rejects with a
 * `Deno.errors` error when it cannot listen on the address.
 */
// deno-lint-ignore require-await -- what `Deno.serve` throws is to be a rejection
export async function listen({ host, port, handler, log }: ListenOptions): Promise<Listener> {
  const server = Deno.serve({
    hostname: host,
    port,
    onListen: () => {},
    onError: (cause) => {
      const stack = cause instanceof Error ? cause.stack : String(cause);
      log("error", "A request handler failed", { cause: stack });
      return new Response("internal server error", { status: 500 });
    },
  }, (request, { remoteAddr }) => {
    if (!hasHost(request)) return new Response("the header host names no host", { status: 400 });
    addresses.set(request, remoteAddr);
    return handler(request);
  });
  return { url: urlOf(server.addr), close: (drainMs) => drained(server.shutdown(), drainMs) };
}

/** A name or an address, and a port. */
const HOST = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(:\d*)?$/i;

/**
 * Whether the URL of a request is one, with the path of its request line. Deno puts them together from the
 * header as it is: `host: a/b?` would name another path, and many other texts make no URL.
 */
function hasHost({ url, headers }: Request): boolean {
  return HOST.test(headers.get("host") ?? "") && URL.canParse(url);
}

/** Requests that still run then end with the process: Deno cannot close them after `shutdown`. */
function drained(finished: Promise<void>, drainMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, drainMs);
    finished.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function urlOf({ hostname, port }: Deno.NetAddr): string {
  if (hostname === "0.0.0.0" || hostname === "::") return `http://127.0.0.1:${port}`;
  return hostname.includes(":") ? `http://[${hostname}]:${port}` : `http://${hostname}:${port}`;
}
