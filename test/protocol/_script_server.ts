import http from "node:http";
import http2 from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Exchange } from "./_script_attempt.ts";

/** How an endpoint is reached: cleartext HTTP/2, or HTTP/1.1 and nothing else. */
export type Transport = "h2" | "h1";

/** A listener on 127.0.0.1 that can go away and come back. */
export interface Listener {
  readonly port: number;
  /** Stops listening and breaks every connection. */
  leave(): Promise<void>;
  /** Listens on the same port again. */
  comeBack(): Promise<void>;
}

export interface ListenOptions {
  readonly transport: Transport;
  /** HTTP/2: what the server may send of a stream before it is read. */
  readonly windowBytes?: number;
  /** HTTP/2: reads one byte at a time, and looks around in between. */
  readonly slow?: boolean;
}

/** Passes on what a stream brings, as slowly as nobody should. */
async function readSlowly(stream: http2.ServerHttp2Stream, data: (chunk: Buffer) => void) {
  const some = () => new Promise((resolve) => stream.once("readable", resolve));
  for (let count = 0; !stream.readableEnded && !stream.destroyed; count++) {
    const byte = stream.read(1) as Buffer | null;
    if (byte) data(byte);
    else if (!stream.readableEnded) await Promise.race([some(), ended(stream)]);
    if (count % 32 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function ended(stream: http2.ServerHttp2Stream): Promise<unknown> {
  return new Promise((resolve) => stream.once("end", resolve).once("close", resolve));
}

function overH2(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  isSlow: boolean,
): Exchange {
  stream.on("error", () => {});
  return {
    method: String(headers[":method"]),
    path: String(headers[":path"]),
    headers,
    httpVersion: "2.0",
    respond: (status, head) => stream.closed || stream.respond({ ":status": status, ...head }),
    write: (bytes) => new Promise((resolve) => stream.write(bytes, () => resolve())),
    end: () => void stream.end(),
    reset: () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR),
    listen: (on) => {
      stream.on("end", on.end);
      if (isSlow) void readSlowly(stream, on.data);
      else stream.on("data", on.data);
      // A reset shows as "end" too, before "close": what is aborted was not ended.
      stream.on("close", on.close);
    },
  };
}

function overH1(request: http.IncomingMessage, response: http.ServerResponse): Exchange {
  for (const one of [request, response]) one.on("error", () => {});
  return {
    method: String(request.method),
    path: String(request.url),
    headers: request.headers,
    httpVersion: request.httpVersion,
    respond: (status, head) => void response.writeHead(status, head).flushHeaders(),
    write: (bytes) => new Promise((resolve) => response.write(bytes, () => resolve())),
    end: () => void response.end(),
    reset: () => void request.socket.destroy(),
    listen: (on) => {
      request.on("data", on.data).on("end", on.end);
      response.on("close", on.close);
    },
  };
}

/** Gives every request to `take`. */
export async function listen(
  { transport, windowBytes, slow = false }: ListenOptions,
  take: (exchange: Exchange) => void,
): Promise<Listener> {
  const settings = windowBytes === undefined ? {} : { initialWindowSize: windowBytes };
  const server: Server = transport === "h2"
    ? http2.createServer({ settings }).on("stream", (s, headers) => take(overH2(s, headers, slow)))
      .on("sessionError", () => {})
    : http.createServer((request, response) => take(overH1(request, response)));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const open = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
  await open(0);
  const { port } = server.address() as AddressInfo;
  const leave = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port, leave, comeBack: () => open(port) };
}
