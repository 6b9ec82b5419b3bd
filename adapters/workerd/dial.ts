import type { Dial, DialRequest } from "../../src/dial.ts";
import type { After } from "../../src/http2/byte_stream.ts";
import { Http2Client } from "../../src/http2/client.ts";
import type { Egress } from "../../src/outbound/egress/egress.ts";
import { checkUrl, refusalOf } from "./check_url.ts";
import { fetchDial } from "./fetch_dial.ts";
import { openSocket, type SocketOptions } from "./socket_stream.ts";

/**
 * How connections are kept. An open one keeps its object in memory, so that an unused one is closed
 * soon.
 */
const SESSIONS = { idleMs: 1_000, pingMs: 40_000, pingTimeoutMs: 20_000 } as const;

const after: After = (ms, call) => {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
};

export interface WorkerdDialOptions extends Omit<SocketOptions, "check"> {
  /** Attempts that share one connection. */
  readonly streamsMax: number;
  /** Where connections may go. */
  readonly egress: Egress;
}

/**
 * Dials endpoints from a Durable Object: cleartext HTTP/2 on sockets, in both directions at once, and
 * everything else with `fetch`, in request-response mode. Which version `fetch` speaks over TLS it
 * does not tell.
 */
export function workerdDial({ streamsMax, egress, ...platform }: WorkerdDialOptions): Dial {
  const fetching = fetchDial(egress);
  const socketOptions = { ...platform, check: (url: URL) => checkUrl(url, egress) };
  const clients = new Map<string, Http2Client>();
  const settings = { ...SESSIONS, streamsMax };
  const clientOf = (url: URL) => {
    let client = clients.get(url.origin);
    if (!client) {
      const connect = (to: URL) => openSocket(to, socketOptions);
      clients.set(url.origin, client = new Http2Client(url, { settings, connect, after }));
    }
    return client;
  };
  return {
    refusal: (url) => refusalOf(url, egress),
    isHalfDuplex: (request) => !isCleartextHttp2(request),
    open(request, listener) {
      if (!isCleartextHttp2(request)) return fetching.open(request, listener);
      const url = new URL(request.url);
      return clientOf(url).open(url.pathname + url.search, request, listener);
    },
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
      return Promise.resolve();
    },
  };
}

function isCleartextHttp2({ url, version }: Pick<DialRequest, "url" | "version">): boolean {
  return version === "h2" && url.slice(0, 5).toLowerCase() === "http:";
}
