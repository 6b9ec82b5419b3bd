import tls from "node:tls";
import type { Dial, DialFailure, DialListener, DialRequest, Exchange } from "../../src/dial.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";
import { destinationOf, Guard, type Resolve } from "./guard.ts";
import { connectFailure, H1Connections } from "./h1.ts";
import { H2Session, type H2Settings } from "./h2_session.ts";
import { after, openSocket } from "./socket_stream.ts";
import { type Load, OpenConnections } from "../platform/open_connections.ts";
import { Http2Client } from "../../src/http2/client.ts";
import { type Session, type SessionOwner, SessionPool } from "../../src/http2/session_pool.ts";
import { failedExchange, PendingExchange } from "../../src/pending_exchange.ts";

/** Parsed URLs that are cached; beyond it the cache is cleared. */
const ADDRESSES_MAX = 10_000;

const DEFAULTS: Omit<H2Settings, "connections" | "guard"> = {
  tls: () => ({}),
  streamsMax: 100,
  idleMs: 300_000,
  pingMs: 40_000,
  pingTimeoutMs: 20_000,
};

interface Address {
  readonly url: URL;
  readonly path: string;
  /** The sessions with its host and port, once HTTP/2 was asked for. */
  h2?: Http2Sessions;
}

/** Exchanges over HTTP/2 with one host and port. */
type Http2Sessions = Pick<Http2Client, "open" | "close">;

/**
 * Dials endpoints on Node and on Deno (docs/spec/service-protocol.md#transports): HTTP/2 with prior
 * knowledge by the client of `src/http2`, HTTP/2 over TLS by `node:http2`, both over pooled sessions,
 * and HTTP/1.1 by `node:http` over keep-alive connections. All are full duplex, with back-pressure.
 * Decision 054 says why.
 */
export function nodeDial(options: NodeDialOptions = {}): Dial {
  const { egress = new Egress(), resolve, ...settings } = options;
  const [connections, guard] = [new OpenConnections(), new Guard(egress, resolve)];
  return new NodeDial({ ...DEFAULTS, connections, ...settings, guard });
}

export interface NodeDialOptions extends Partial<Omit<H2Settings, "guard">> {
  /** Where connections may go. Absent: where they may by default. */
  readonly egress?: Egress;
  /** Asks for the addresses of a name. Absent: the system does. */
  readonly resolve?: Resolve;
}

class NodeDial implements Dial {
  readonly #settings: H2Settings;
  readonly #h1: H1Connections;
  readonly #clients = new Map<string, Http2Client>();
  readonly #securePools = new Map<string, SessionPool>();
  readonly #addresses = new Map<string, Address>();

  constructor(settings: H2Settings) {
    this.#settings = settings;
    this.#h1 = new H1Connections(settings);
    settings.connections.addLoad(() => this.#load());
  }

  refusal = (url: URL) => this.#settings.guard.refusal(destinationOf(url));

  open(request: DialRequest, listener: DialListener): Exchange {
    const address = this.#address(request.url);
    const { url, path } = address;
    switch (request.version) {
      case "h2":
        return (address.h2 ??= this.#sessions(url)).open(path, request, listener);
      case "h1":
        return this.#h1.open(url, request, { listener });
      case "alpn":
        return this.#negotiate(url, request, listener);
    }
  }

  close(): Promise<void> {
    for (const sessions of [...this.#clients.values(), ...this.#securePools.values()]) {
      sessions.close();
    }
    this.#clients.clear();
    this.#securePools.clear();
    this.#addresses.clear();
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

  #sessions(url: URL): Http2Sessions {
    return url.protocol === "https:" ? this.#securePool(url) : this.#client(url);
  }

  #client(url: URL): Http2Client {
    let known = this.#clients.get(url.origin);
    if (!known) {
      const connect = (to: URL) => openSocket(to, this.#settings);
      known = new Http2Client(url, { settings: this.#settings, connect, after });
      this.#clients.set(url.origin, known);
    }
    return known;
  }

  #securePool({ origin }: URL): SessionPool {
    let known = this.#securePools.get(origin);
    if (!known) {
      known = new SessionPool(
        this.#settings.streamsMax,
        (timeoutMs, owner) => {
          const to = destinationOf(new URL(origin));
          const refusal = this.#settings.guard.refusal(to);
          if (refusal) return noSession(owner, connectFailure(refusal, to));
          return new H2Session(origin, this.#settings, { timeoutMs, owner });
        },
      );
      this.#securePools.set(origin, known);
    }
    return known;
  }

  #load(): Load {
    let streams = 0, queuedBytes = 0;
    for (const { load } of this.#clients.values()) {
      streams += load.streams;
      queuedBytes += load.queuedBytes;
    }
    return { streams, queuedBytes };
  }

  /** Connects, and uses the version that ALPN selects. Only discovery does so: it is not pooled. */
  #negotiate(url: URL, request: DialRequest, listener: DialListener): Exchange {
    const { guard } = this.#settings;
    const to = destinationOf(url);
    const refusal = guard.refusal(to);
    if (refusal) return failedExchange(listener, connectFailure(refusal, to));
    const pending = new PendingExchange(listener);
    const { connectTimeoutMs } = request;
    const { host } = to;
    const socket = tls.connect({
      ...to,
      lookup: guard.lookup(to),
      ALPNProtocols: ["h2", "http/1.1"],
      // The server name of TLS must not be an IP address.
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
      ...this.#settings.tls(to),
    });
    const fail = (error: Error) => {
      pending.fail(connectFailure(error, to));
      socket.destroy();
    };
    const timer = setTimeout(
      () => fail(new Error(`no connection within ${connectTimeoutMs} ms`)),
      connectTimeoutMs,
    );
    // Never removed: once `pending` is settled, `fail` has no effect.
    socket.on("error", fail);
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
    const pool = this.#securePool(url);
    pool.adopt(
      request.connectTimeoutMs,
      (timeoutMs, owner) => new H2Session(url.origin, this.#settings, { timeoutMs, socket, owner }),
    );
    return pool.open(url.pathname + url.search, request, listener);
  }
}

/** A session that is refused, and so never opened. */
function noSession(owner: SessionOwner, failure: DialFailure): Session {
  queueMicrotask(() => owner.gone(failure));
  return {
    hasRoom: false,
    open: (_path, _request, listener) => failedExchange(listener, failure),
    destroy: () => {},
  };
}
