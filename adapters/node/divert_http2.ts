import type { Server } from "node:http";
import type { Http2Server } from "node:http2";
import type { Socket } from "node:net";
import tls from "node:tls";
import { limitedLog } from "../../src/observe/limited_log.ts";
import type { Log } from "../../src/ports.ts";
import type { OpenConnections } from "../platform/open_connections.ts";

export interface DivertOptions {
  readonly timeoutMs: number;
  readonly open: OpenConnections;
  readonly log: Log;
}

/**
 * Reads the first bytes of each connection that `http1` accepts and hands it to the server of that
 * version: HTTP/1.1 and HTTP/2 with prior knowledge share a port (docs/spec/runtimes.md#listeners).
 * A connection whose version is unknown after `timeoutMs` is closed. Returns the connections whose
 * version is not known yet: neither server has them, so the caller destroys them at a stop.
 */
export function divertHttp2(
  http1: Server,
  http2: Http2Server,
  { timeoutMs, open, log }: DivertOptions,
): ReadonlySet<Socket> {
  const accepted = http1 instanceof tls.Server ? "secureConnection" : "connection";
  const listeners = http1.listeners(accepted) as ((socket: Socket) => void)[];
  const fresh = new Set<Socket>();
  const limited = limitedLog(log, () => Date.now());
  const hand = (socket: Socket, version: 1 | 2 | "tls") => {
    if (version === "tls") {
      limited("warn", "A client speaks TLS to a port without it: its URL needs http");
      return void socket.destroy();
    }
    open.add(socket, `http${version}`);
    if (version === 2) return handToHttp2(http2, socket);
    for (const listener of listeners) listener.call(http1, socket);
  };
  http1.removeAllListeners(accepted);
  http1.on(accepted, (socket: Socket) => {
    fresh.add(socket);
    open.add(socket, "fresh");
    peek(socket, timeoutMs, { hand, forget: () => void fresh.delete(socket) });
  });
  return fresh;
}

/**
 * Node's `http` server accepts half-open sockets, which stay open for writing when the peer has ended
 * its side. An HTTP/2 session never closes such a socket, and each connection that its caller ends
 * with FIN would keep its descriptor until the process ends.
 */
function handToHttp2(http2: Http2Server, socket: Socket): void {
  socket.allowHalfOpen = false;
  http2.emit("connection", socket);
}

interface Peek {
  readonly hand: (socket: Socket, version: 1 | 2 | "tls") => void;
  readonly forget: () => void;
}

function peek(socket: Socket, timeoutMs: number, { hand, forget }: Peek): void {
  const destroy = () => void socket.destroy();
  let held: Buffer = Buffer.alloc(0);
  const inspect = () => {
    const more = socket.read() as Buffer | null;
    // Kept here, not unshifted: bytes that return to the socket make it readable again at once.
    if (more !== null) held = held.length === 0 ? more : Buffer.concat([held, more]);
    const version = versionOf(held);
    if (version === undefined) return void socket.once("readable", inspect);
    socket.off("timeout", destroy).off("error", destroy).off("end", destroy).off("close", forget);
    socket.setTimeout(0);
    forget();
    socket.unshift(version === 1 ? escapeTarget(held) : held);
    hand(socket, version);
  };
  socket.setTimeout(timeoutMs);
  socket.on("timeout", destroy).on("error", destroy).on("end", destroy).on("close", forget);
  socket.once("readable", inspect);
}

// deno-lint-ignore no-control-regex -- the point is to name every byte that is ASCII
const NOT_ASCII = /[^\x00-\x7f]/g;

/**
 * Percent-encodes the bytes of the first request line that are not ASCII. Node's parser refuses them,
 * but an object key may be written in bare UTF-8 (docs/spec/ingress.md#keys), as curl does. It only
 * helps the first request of a connection, and only if its line arrived with the first bytes.
 */
function escapeTarget(head: Buffer): Buffer {
  const end = head.indexOf("\r\n");
  const line = head.toString("latin1", 0, end < 0 ? head.length : end);
  if (line.search(NOT_ASCII) < 0) return head;
  const escaped = line.replace(NOT_ASCII, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  return Buffer.concat([Buffer.from(escaped, "latin1"), head.subarray(line.length)]);
}

/**
 * "PRI", with which every HTTP/2 connection begins and no HTTP/1 method does (RFC 9113, section
 * 3.4).
 */
const PREFACE = [0x50, 0x52, 0x49];

/** The type of a record of TLS that begins a handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

function versionOf(head: Uint8Array): 1 | 2 | "tls" | undefined {
  if (head[0] === HANDSHAKE) return "tls";
  const length = Math.min(head.length, PREFACE.length);
  for (let i = 0; i < length; i++) if (head[i] !== PREFACE[i]) return 1;
  return length === PREFACE.length ? 2 : undefined;
}
