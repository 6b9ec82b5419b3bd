import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { afterEach } from "vitest";
import type { HandlerOptions } from "../../src/model/schema.ts";
import type { OutboundOptions } from "../../src/outbound/options.ts";
import { Bench, type BenchDeps, deploymentAt } from "./_attempts.ts";
import { type Endpoint, h2Endpoint } from "./_endpoint.ts";
import { Frames, say } from "./_scripts.ts";

export const V6 = "application/vnd.restate.invocation.v6";
/** Run after each test, the last one first. */
export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Stage {
  readonly bench: Bench;
  readonly endpoint: Endpoint;
}

type Deploy = Parameters<typeof deploymentAt>[1];

export async function stage(
  script: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  { deploy = {}, path = "", ...options }:
    & Partial<OutboundOptions>
    & BenchDeps
    & { readonly deploy?: Deploy; readonly path?: string } = {},
): Promise<Stage> {
  const endpoint = await h2Endpoint(script);
  const bench = new Bench([deploymentAt(endpoint.uri + path, deploy)], options);
  cleanups.push(() => endpoint.close(), () => bench.close());
  return { bench, endpoint };
}

export const respond = (stream: ServerHttp2Stream, contentType = V6) =>
  stream.respond({ ":status": 200, "content-type": contentType });

export const timeouts = (inactivityTimeoutMs: number, abortTimeoutMs: number): HandlerOptions => ({
  inactivityTimeoutMs,
  abortTimeoutMs,
});

/** What an endpoint received on one stream. */
export interface Seen extends Frames {
  ended: boolean;
  /** The reset code, once the stream is closed. */
  closed?: number;
}

export function watch(stream: ServerHttp2Stream): Seen {
  const seen: Seen = Object.assign(new Frames(), { ended: false });
  stream.on("data", (data: Uint8Array) => seen.push(data));
  stream.on("end", () => seen.ended = true);
  stream.on("close", () => seen.closed = stream.rstCode);
  return seen;
}

/** An endpoint that suspends when its input ends, and until then only reads. */
export function suspending(seen: { frames?: Seen }): (stream: ServerHttp2Stream) => void {
  return (stream) => {
    seen.frames = watch(stream);
    respond(stream);
    stream.on("end", () => stream.end(say.suspend(9)));
  };
}
