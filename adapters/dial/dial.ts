import tls from "node:tls";
import type { Dial, DialListener, DialRequest, Exchange } from "../../src/dial.ts";
import { describe, H1Connections } from "./h1.ts";
import { H2Pool } from "./h2_pool.ts";
import type { H2Settings } from "./h2_session.ts";
import { OpenConnections } from "../platform/open_connections.ts";
import { PendingExchange } from "../../src/outbound/pending_exchange.ts";

/** Parsed URLs that are cached; beyond it the cache is cleared. */
const ADDRESSES_MAX = 10_000;

const DEFAULTS: Omit<H2Settings, "connections"> = {
  streamsMax: 100,
  idleMs: 300_000,
  pingMs: 40_000,
  pingTimeoutMs: 20_000,
};

interface Address {
  readonly url: URL;
  readonly path: string;
}

/**
 * Dials endpoints with `node:http2` and `node:http`, on Node and on Deno
 * (docs/spec/service-protocol.md#transports): HTTP/2 with prior knowledge or by ALPN over pooled
 * sessions, HTTP/1.1 over keep-alive connections. Both are full duplex, with back-pressure. It uses
 * raw streams, because `fetch` costs five times the CPU on Node and cannot speak cleartext HTTP/2.
 */
export function nodeDial(options: Partial<H2Settings> = {}): Dial {
  return new NodeDial({ ...DEFAULTS, connections: new OpenConnections(), ...options });
}

class NodeDial implements Dial {
  readonly #settings: H2Settings;
  readonly #h1: H1Connections;
  readonly #pools = new Map<string, H2Pool>();
  readonly #addresses = new Map<string, Address>();

  constructor(settings: H2Settings) {
    this.#settings = settings;
    this.#h1 = new H1Connections(settings);
  }

  open(request: DialRequest, listener: DialListener): Exchange {
    const { url, path } = this.#address(request.url);
    switch (request.version) {
      case "h2":
        return this.#pool(url.origin).open(path, request, listener);
      case "h1":
        return this.#h1.open(url, request, { listener });
      case "alpn":
        return this.#negotiate(url, request, listener);
    }
  }

  close(): Promise<void> {
    for (const pool of this.#pools.values()) pool.close();
    this.#pools.clear();
    this.#h1.close();
    return Promise.resolve();
  }

  #address(text: string): Address {
    let address = this.#addresses.get(text);
    if (!address) {
      const url = new URL(text);
      address = { url, path: url.pathname + url.search };
      if (this.#addresses.size >= ADDRESSES_MAX) this.#addresses.clear();
      this.#addresses.set(text, address);
    }
    return address;
  }

  #pool(origin: string): H2Pool {
    let known = this.#pools.get(origin);
    if (!known) this.#pools.set(origin, known = new H2Pool(origin, this.#settings));
    return known;
  }

  /** Connects, and uses the version that ALPN selects. Only discovery does so: it is not pooled. */
  #negotiate(url: URL, request: DialRequest, listener: DialListener): Exchange {
    const pending = new PendingExchange(listener);
    const { connectTimeoutMs } = request;
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const socket = tls.connect({
      host,
      port: Number(url.port || 443),
      ALPNProtocols: ["h2", "http/1.1"],
      // The server name of TLS must not be an IP address.
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ...(this.#settings.ca && { ca: [...this.#settings.ca] }),
    });
    const fail = (message: string) => {
      pending.fail({ kind: "unreachable", message });
      socket.destroy();
    };
    const timer = setTimeout(
      () => fail(`no connection within ${connectTimeoutMs} ms`),
      connectTimeoutMs,
    );
    // Never removed: once `pending` is settled, `fail` has no effect.
    socket.on("error", (error) => fail(describe(error)));
    socket.once("close", () => clearTimeout(timer));
    socket.once("secureConnect", () => {
      clearTimeout(timer);
      if (pending.over) return void socket.destroy();
      pending.connect((inner) => this.#overTls(socket, { url, request, listener: inner }));
    });
    return pending;
  }

  #overTls(
    socket: tls.TLSSocket,
    { url, request, listener }: { url: URL; request: DialRequest; listener: DialListener },
  ): Exchange {
    if (socket.alpnProtocol !== "h2") return this.#h1.open(url, request, { listener, socket });
    const pool = this.#pool(url.origin);
    pool.adopt(socket, request.connectTimeoutMs);
    return pool.open(url.pathname + url.search, request, listener);
  }
}
