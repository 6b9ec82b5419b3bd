import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import type { OpenConnections } from "../platform/open_connections.ts";
import { failedExchange } from "../../src/pending_exchange.ts";
import {
  type DialFailure,
  type DialHead,
  type DialListener,
  type DialRequest,
  type Exchange,
  ForbiddenAddress,
} from "../../src/dial.ts";
import type { Destination } from "../../src/outbound/egress/egress.ts";
import { describeTls, type TlsOptionsFor } from "../tls/outgoing.ts";
import { destinationOf, type Guard } from "./guard.ts";

/** Idle connections kept per address, beyond which they are closed. */
const FREE_SOCKETS_MAX = 256;

export interface H1Settings {
  /** How long an unused connection is kept. */
  readonly idleMs: number;
  readonly tls: TlsOptionsFor;
  /** Where connections are counted. */
  readonly connections: OpenConnections;
  readonly guard: Guard;
}

/** Keep-alive connections for HTTP/1.1: one exchange at a time on each, without limit to both. */
export class H1Connections {
  readonly #plain: http.Agent;
  readonly #secure: https.Agent;

  readonly #connections: OpenConnections;

  constructor({ idleMs, tls, connections, guard }: H1Settings) {
    this.#connections = connections;
    const options = { keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX, timeout: idleMs };
    this.#plain = guard.watch(new http.Agent(options));
    this.#secure = guard.watch(new https.Agent(options), tls);
  }

  /** `socket`: a connection that is open already, used for this exchange only. */
  open(url: URL, request: DialRequest, { listener, socket }: H1Options): Exchange {
    const secure = url.protocol === "https:";
    let outgoing: ClientRequest;
    try {
      outgoing = (secure ? https : http).request({
        ...destinationOf(url),
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        defaultPort: secure ? 443 : 80,
        ...(socket
          ? { createConnection: () => socket }
          : { agent: secure ? this.#secure : this.#plain }),
      });
    } catch (cause) {
      return failedExchange(listener, { kind: "unreachable", message: describe(cause as Error) });
    }
    outgoing.once("socket", (used: Socket) => this.#connections.add(used, "http1"));
    const exchange = new H1Exchange(outgoing, listener, destinationOf(url));
    if (socket) exchange.connected = true;
    else limitConnect(outgoing, exchange, request.connectTimeoutMs);
    if (request.method === "GET") outgoing.end();
    return exchange;
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

export interface H1Options {
  readonly listener: DialListener;
  readonly socket?: Socket;
}

/** Ends a request that has no connection after `timeoutMs`. */
function limitConnect(outgoing: ClientRequest, exchange: H1Exchange, timeoutMs: number): void {
  outgoing.once("socket", (socket: Socket) => {
    if (outgoing.reusedSocket) {
      exchange.connected = true;
      return;
    }
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${timeoutMs} ms`)),
      timeoutMs,
    );
    socket.once("encrypted" in socket ? "secureConnect" : "connect", () => {
      exchange.connected = true;
      clearTimeout(timer);
    });
    socket.once("close", () => clearTimeout(timer));
  });
}

class H1Exchange implements Exchange {
  /** Whether there has been a connection: it decides between the failures `reset` and `unreachable`. */
  connected = false;
  readonly #outgoing: ClientRequest;
  readonly #listener: DialListener;
  #incoming: IncomingMessage | undefined;
  #paused = false;
  #over = false;

  readonly #to: Destination;

  constructor(outgoing: ClientRequest, listener: DialListener, to: Destination) {
    this.#to = to;
    this.#outgoing = outgoing;
    this.#listener = listener;
    outgoing.on("response", (incoming) => this.#answered(incoming));
    // Never removed: a socket may fail after the exchange, and an error without listener is thrown.
    outgoing.on("error", (error) => this.#failed(error));
    outgoing.on("drain", () => this.#over || listener.drain());
    // `abort` may close a request that has neither response nor error.
    outgoing.on("close", () => this.#incoming || this.#failed(new Error("connection closed")));
  }

  write(bytes: Uint8Array): boolean {
    return this.#over || this.#outgoing.write(bytes);
  }

  end(): void {
    if (!this.#outgoing.writableEnded) this.#outgoing.end();
  }

  abort(): void {
    this.#over = true;
    this.#outgoing.destroy();
  }

  pause(): void {
    this.#paused = true;
    this.#incoming?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#incoming?.resume();
  }

  #answered(incoming: IncomingMessage): void {
    this.#incoming = incoming;
    incoming.on("error", (error) => this.#failed(error));
    if (this.#over) return void incoming.resume();
    this.#listener.head(headOf(incoming));
    incoming.on("data", (bytes: Uint8Array) => this.#over || this.#listener.chunk(bytes));
    incoming.on("end", () => this.#ended());
    incoming.on("close", () => this.#failed(new Error("connection closed")));
    if (this.#paused) incoming.pause();
  }

  #ended(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.end();
  }

  #failed(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    const failure = connectFailure(error, this.#to);
    this.#listener.failed(this.connected ? { ...failure, kind: "reset" } : failure);
  }
}

function headOf(incoming: IncomingMessage): DialHead {
  const { statusCode = 0, httpVersion, headers } = incoming;
  return {
    status: statusCode,
    httpVersion: httpVersion === "1.0" ? "HTTP/1.0" : "HTTP/1.1",
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(", ") : value;
    },
  };
}

/** Why there is no connection to a host. */
export function connectFailure(error: Error, { host, port }: Destination): DialFailure {
  const kind = error instanceof ForbiddenAddress ? "forbidden" : "unreachable";
  const message = describeTls(error, `${host}:${port}`, "outbound.tls");
  return { kind, message: message ?? describe(error) };
}

/** The reason of an error, in one line. An error for several addresses has no message of its own. */
export function describe(error: Error & { readonly errors?: readonly Error[] }): string {
  if (error.message !== "") return error.message;
  return error.errors?.map(({ message }) => message).join(", ") ?? error.name;
}
