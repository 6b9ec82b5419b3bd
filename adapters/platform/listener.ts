import type { Log } from "../../src/ports.ts";
import type { OpenConnections } from "./open_connections.ts";

/** A Fetch handler. It turns its failures into responses; when it throws, that is a bug. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** Certificates with what belongs to them, as PEM. Undefined: there is none. */
export interface Certificates {
  /** That of this process, with those that lead to its root. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The authorities whose certificates peers may show. */
  readonly ca: string | undefined;
}

/** How a port speaks TLS. */
export interface PortTls {
  readonly certificates: Certificates;
  readonly handshakeTimeoutMs: number;
  /** Whether peers have to show a certificate. Absent: they may. */
  readonly needsCertificate?: boolean;
  /** Calls back with other certificates, once they are to be used. */
  readonly subscribe: (changed: (certificates: Certificates) => void) => void;
}

/** What the clients of one port may send, and what they may hold (decision 067). */
export interface PortLimits {
  /** Connections that are open at once. A further one is closed as soon as it is accepted. */
  readonly connectionsMax: number;
  /** Bytes of all answers that are not read. Beyond: connections that hold most are closed. */
  readonly unreadBytesMax: number;
  /** Of one connection. Beyond: its further requests wait, or are answered with 503. */
  readonly unreadConnectionBytesMax: number;
  /** How long an answer may wait while its client reads nothing of it. Then it is ended. */
  readonly unreadTimeoutMs: number;
  /** Bytes of the head of a request. Beyond: 431. */
  readonly headBytesMax: number;
  /** Lines of it. Beyond: 431. */
  readonly headLinesMax: number;
  /** How long the head of a request, or a fresh connection without one, may take. Then it is closed. */
  readonly headTimeoutMs: number;
  /** How long a request may take, its body included: from then on it is given up. 0: for ever. */
  readonly requestTimeoutMs: number;
  /** Streams of HTTP/2 that may end in a reset, as in `StreamResets`. Beyond: the connection is closed. */
  readonly streamResetsMax: number;
}

/** What a port is limited to of which nothing is said: heads as the reference limits them. */
export const NO_LIMITS: PortLimits = {
  connectionsMax: Infinity,
  unreadBytesMax: Infinity,
  unreadConnectionBytesMax: Infinity,
  unreadTimeoutMs: 0,
  headBytesMax: 128 * 1024,
  headLinesMax: 100,
  headTimeoutMs: 60_000,
  requestTimeoutMs: 0,
  streamResetsMax: Infinity,
};

/** How a runtime is to listen. */
export interface ListenOptions {
  /** Address to listen on: `127.0.0.1`, `0.0.0.0`, `::` (all, both families). */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly handler: Handler;
  readonly log: Log;
  /** Whether other threads of this process listen on the port as well. Absent: they do not. */
  readonly isShared?: boolean;
  /** Absent: there are none. */
  readonly limits?: PortLimits | undefined;
  /** Absent: the port speaks no TLS. */
  readonly tls?: PortTls | undefined;
  /** Where connections and streams are counted. */
  readonly open?: OpenConnections | undefined;
  /** How long an HTTP/2 connection may be inactive before its peer is sent a PING. */
  readonly inactivityMs?: number;
}

/** A port that is listened on. */
export interface Listener {
  /** `http://host:port`, or `https`, with a host that can be dialed: a wildcard becomes the loopback address. */
  readonly url: string;
  /**
   * Refuses new connections at once, lets requests in flight finish for `drainMs`, then cuts what
   * is left. Resolves when the last connection is gone.
   */
  close(drainMs: number): Promise<void>;
}
