import type { Server } from "node:https";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import type { TlsOptions, TLSSocket } from "node:tls";
import { limitedLog } from "../../src/observe/limited_log.ts";
import type { Log } from "../../src/ports.ts";
import type { Certificates, PortTls } from "../platform/listener.ts";

/** Options of a server of Node that speaks both versions of HTTP over TLS. */
export function secureOptions({ certificates }: PortTls): TlsOptions {
  return {
    ...contextOf(certificates),
    ALPNProtocols: ["h2", "http/1.1"],
    // Whether a peer may go on is decided in `guardPort`, which logs why not.
    ...(certificates.ca !== undefined && { requestCert: true, rejectUnauthorized: false }),
  };
}

function contextOf({ cert, key, ca }: Certificates): TlsOptions {
  const own = cert !== undefined && key !== undefined ? { cert, key } : {};
  return { ...own, minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) };
}

/**
 * Has a server follow its certificates, close connections that do not agree on TLS in time, and log why
 * others are refused. Returns a function that closes those that have not agreed yet: no server of HTTP
 * has them. To be called before other listeners of connections are added.
 */
export function guardPort(server: Server, tls: PortTls, log: Log): () => void {
  const limited = limitedLog(log, () => Date.now());
  const handshakes = new Handshakes(tls.handshakeTimeoutMs);
  server.prependListener("connection", (socket: Socket) => handshakes.begin(socket));
  server.on("tlsClientError", (cause: Error, secure: TLSSocket) => {
    // Deno leaves the socket below open.
    handshakes.end(secure)?.destroy();
    secure.destroy();
    limited("warn", ...failureOf(cause));
  });
  server.prependListener("secureConnection", (secure: TLSSocket) => {
    handshakes.end(secure);
    const refusal = refusalOf(secure, tls);
    if (refusal === undefined) return;
    limited("warn", "A connection was refused for its certificate", { cause: refusal });
    secure.destroy();
  });
  tls.subscribe((certificates) => server.setSecureContext(contextOf(certificates)));
  return () => handshakes.close();
}

interface Handshake {
  readonly socket: Socket;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** Sockets that have not agreed on TLS. The secure socket above one has the same peer. */
class Handshakes {
  readonly #timeoutMs: number;
  readonly #open = new Map<string, Handshake>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  begin(socket: Socket): void {
    const peer = peerOf(socket);
    const timer = setTimeout(() => socket.destroy(), this.#timeoutMs);
    const handshake = { socket, timer };
    this.#open.set(peer, handshake);
    socket.once("close", () => {
      clearTimeout(timer);
      if (this.#open.get(peer) === handshake) this.#open.delete(peer);
    });
  }

  /** The socket below a secure one, if its handshake was under way. */
  end(secure: TLSSocket): Socket | undefined {
    const handshake = this.#open.get(peerOf(secure));
    this.#open.delete(peerOf(secure));
    clearTimeout(handshake?.timer);
    return handshake?.socket;
  }

  close(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** What both runtimes say to a request of HTTP without TLS. */
const NO_TLS = /http request|wrong version number|InvalidContentType/;

function failureOf({ message }: Error): [message: string, fields: { cause: string }] {
  const cause = message.replace(/^[0-9A-F]+:error:|:\.\..*\n?$/gs, "");
  return NO_TLS.test(message)
    ? ["A client speaks no TLS to a port of TLS: its URL needs https", { cause }]
    : ["A client did not agree on TLS", { cause }];
}

/** Why a peer that has agreed on TLS may not go on. */
function refusalOf(
  secure: TLSSocket,
  { certificates, needsCertificate }: PortTls,
): string | undefined {
  if (certificates.ca === undefined || secure.authorized) return undefined;
  const subject = secure.getPeerCertificate()?.subject?.CN;
  const isShown = secure.getPeerX509Certificate?.() !== undefined;
  if (!isShown) return needsCertificate ? "none was shown" : undefined;
  return `of "${subject}": ${String(secure.authorizationError)}`;
}
