import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { FuzzRequest } from "./_fuzz.ts";

/** What came back. Status 0: nothing, since the request was abandoned or its connection closed. */
export interface Heard {
  readonly status: number;
  readonly text: string;
}

/** One way of sending requests to the ports of one server. */
export interface Sender {
  readonly name: string;
  send(url: string, request: FuzzRequest): Promise<Heard>;
  close(): void;
}

/**
 * A session that keeps a stream so long after its end is destroyed. The client of Node 20 may stop to
 * write after very many canceled streams, with nothing in the buffers of its socket, or of the server's.
 */
const STUCK_MS = 2_000;
const TEXT_MAX = 1_000;
const NOTHING: Heard = { status: 0, text: "" };

/**
 * Requests over kept connections of HTTP/1.1. `abandonMs`: after so long without a byte one is abandoned, since
 * calls of a paused service wait for good.
 */
export function http1Sender(isSecure: boolean, abandonMs: number): Sender {
  const options = { keepAlive: true, maxSockets: 64, rejectUnauthorized: false };
  const agent = isSecure ? new https.Agent(options) : new http.Agent(options);
  const { request: open } = isSecure ? https : http;
  return {
    name: isSecure ? "HTTP/1.1 over TLS" : "HTTP/1.1",
    send: (url, { method, path, headers, body }) =>
      new Promise((resolve) => {
        const length = body === undefined ? {} : { "content-length": String(body.length) };
        const { hostname, port } = new URL(url);
        const to = { hostname, port, path, method, agent, headers: { ...headers, ...length } };
        const exchange = open(to);
        let text = "";
        exchange.setTimeout(abandonMs, () => exchange.destroy());
        exchange.on("error", () => resolve(NOTHING)).on("response", (response) => {
          const heard = () => resolve({ status: response.statusCode ?? 0, text });
          response.on("data", (chunk) => text.length < TEXT_MAX && (text += chunk));
          response.on("end", heard).on("close", heard);
          // It has no end.
          if (response.headers["content-type"] === "text/event-stream") exchange.destroy();
        }).end(body);
      }),
    close: () => agent.destroy(),
  };
}

/**
 * Requests over one connection of HTTP/2 for each port, which is opened again when it is closed. `abandonMs`: as
 * in `http1Sender`.
 */
export function http2Sender(isSecure: boolean, abandonMs: number): Sender {
  const sessions = new Map<string, http2.ClientHttp2Session>();
  const sessionOf = (url: string) => {
    let session = sessions.get(url);
    if (!session || session.closed || session.destroyed) {
      session = http2.connect(url, { rejectUnauthorized: false }).on("error", () => {});
      sessions.set(url, session);
    }
    return session;
  };
  return {
    name: isSecure ? "HTTP/2 over TLS" : "HTTP/2",
    send: (url, { method, path, headers, body }) =>
      new Promise((resolve) => {
        const session = sessionOf(url);
        const stream = session.request(
          { ...headers, ":method": method, ":path": path },
          { endStream: body === undefined },
        );
        let status = 0, text = "";
        let timer = setTimeout(() => {
          timer = setTimeout(() => session.destroy(), STUCK_MS);
          stream.close(http2.constants.NGHTTP2_CANCEL);
        }, abandonMs);
        stream.on("response", (head) => {
          status = Number(head[":status"]);
          if (head["content-type"] === "text/event-stream") stream.close();
        });
        stream.on("data", (chunk) => text.length < TEXT_MAX && (text += chunk));
        stream.on("error", () => {}).on("close", () => {
          clearTimeout(timer);
          resolve({ status, text });
        });
        if (body !== undefined) stream.end(body);
      }),
    close: () => sessions.forEach((session) => session.destroy()),
  };
}

/**
 * Sends bytes as they are, ends its side, and hears what comes until the server closes, or sends nothing more:
 * the bytes may be those of a call that waits. `fuzz.test.ts` has those that must be closed.
 */
export function sendBytes(url: string, bytes: Uint8Array, abandonMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const { port, protocol } = new URL(url);
    let text = "";
    const to = { port: Number(port), host: "127.0.0.1", allowHalfOpen: true };
    const socket = protocol === "https:"
      ? connectTls({ ...to, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] })
      : connect(to);
    socket.setTimeout(abandonMs, () => socket.destroy());
    socket.on("data", (chunk) => text.length < TEXT_MAX && (text += chunk.toString("latin1")));
    socket.on("error", () => {}).on("end", () => socket.destroy());
    socket.on(
      "close",
      () => resolve({ status: Number(/HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0), text }),
    );
    socket.end(bytes);
  });
}

/** A request as the bytes of HTTP/1.1. */
export function bytesOf({ method, path, headers, body }: FuzzRequest): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const length = body === undefined ? "" : `content-length: ${body.length}\r\n`;
  const head =
    `${method} ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines}${length}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body ?? new Uint8Array(0)]);
}
