import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach } from "vitest";
import { installBridge } from "../../adapters/node/bridge.ts";
import { listen } from "../../adapters/node/listen.ts";
import {
  type Handler,
  type Listener,
  type ListenOptions,
  NO_LIMITS,
} from "../../adapters/platform/listener.ts";
import type { LogLevel } from "../../src/ports.ts";

interface Entry {
  readonly level: LogLevel;
  readonly message: string;
}

installBridge();

/** What the server under test logged. */
export const log: Entry[] = [];
export let listener: Listener | undefined;
const cleanups: (() => void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  await listener?.close(0);
  listener = undefined;
  log.length = 0;
});

export function start(
  handler: Handler,
  headTimeoutMs?: number,
  inactivityMs?: number,
): Promise<string> {
  return startWith({
    handler,
    ...(headTimeoutMs === undefined ? {} : { limits: { ...NO_LIMITS, headTimeoutMs } }),
    ...(inactivityMs === undefined ? {} : { inactivityMs }),
  });
}

/** Listens on a free port of this machine until the end of the test. */
export async function startWith(
  options: Omit<ListenOptions, "host" | "port" | "log">,
): Promise<string> {
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    log: (level, message) => log.push({ level, message }),
    ...options,
  });
  return listener.url;
}

export function dial(url: string): Socket & { text: string } {
  const socket = Object.assign(connect(Number(new URL(url).port), "127.0.0.1"), { text: "" });
  socket.on("data", (chunk) => socket.text += chunk).on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

export function http2(url: string): ClientHttp2Session {
  const session = connectHttp2(url);
  session.on("error", () => {});
  cleanups.push(() => session.destroy());
  return session;
}

export function exchange(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let text = "", head: Record<string, unknown> = {};
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", reject);
    stream.on("response", (received) => head = received as Record<string, unknown>);
    stream.on("end", () => {
      if (head[":status"]) resolve({ status: Number(head[":status"]), headers: head, text });
    });
    // A server that ends the connection may do so without an error that the stream would tell.
    stream.on("close", () => reject(new Error("The stream was closed before its answer")));
    if (body !== undefined) stream.end(body);
  });
}

export const hello: Handler = () => new Response("hello", { headers: { "x-a": "1" } });
export const echo: Handler = async (request) =>
  new Response(new Uint8Array(await request.arrayBuffer()), {
    headers: { "x-method": request.method, "x-url": new URL(request.url).pathname },
  });
