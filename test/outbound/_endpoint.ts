import http from "node:http";
import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import tls from "node:tls";
import type { Certificate } from "./_certificate.ts";

/** A server that a test controls, on a free port. */
export interface Endpoint {
  readonly port: number;
  readonly uri: string;
  /** Connections ever accepted. */
  readonly connections: () => number;
  close(): Promise<void>;
}

/** Handles every stream with `script`. `secure`: over TLS. */
export function h2Endpoint(
  script: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  settings: http2.Settings = {},
  secure?: Certificate,
): Promise<Endpoint> {
  const server = secure
    ? http2.createSecureServer({ settings, ...secure })
    : http2.createServer({ settings });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    script(stream, headers);
  });
  server.on("sessionError", () => {});
  return listen(server);
}

export function h1Endpoint(script: http.RequestListener): Promise<Endpoint> {
  return listen(http.createServer(script));
}

/** Starts a server, and closes it with all of its connections. */
export function listen(server: Server, at = 0): Promise<Endpoint> {
  const sockets = new Set<Socket>();
  let count = 0;
  for (const event of ["connection", "secureConnection"]) {
    server.on(event, (socket: Socket) => {
      if (event === "connection") count++;
      socket.on("error", () => {});
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
  }
  return new Promise((resolve) =>
    server.listen(at, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        port,
        uri: `${server instanceof tls.Server ? "https" : "http"}://127.0.0.1:${port}/`,
        connections: () => count,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            for (const socket of sockets) socket.destroy();
          }),
      });
    })
  );
}

/** Polls until `ready` returns a value; fails after five seconds. */
export async function until<T>(ready: () => T | undefined | false): Promise<T> {
  const end = Date.now() + 5000;
  for (;;) {
    const value = ready();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`never came true: ${ready}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
