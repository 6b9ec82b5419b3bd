import { fromBinary } from "@bufbuild/protobuf";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { afterEach, expect, test } from "vitest";
import type { HandlerOptions } from "../../src/model/schema.ts";
import type { OutboundOptions } from "../../src/outbound/options.ts";
import { NotificationSchema, StartSchema } from "../../src/wire/gen/service_pb.ts";
import { attempt, Bench, deploymentAt, input, join } from "./_attempts.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, until } from "./_endpoint.ts";
import { Frames, say, slept } from "./_scripts.ts";

const V6 = "application/vnd.restate.invocation.v6";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Stage {
  readonly bench: Bench;
  readonly endpoint: Endpoint;
}

type Deploy = Parameters<typeof deploymentAt>[1];

async function stage(
  script: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  { deploy = {}, ...options }: Partial<OutboundOptions> & { readonly deploy?: Deploy } = {},
): Promise<Stage> {
  const endpoint = await h2Endpoint(script);
  const bench = new Bench([deploymentAt(endpoint.uri, deploy)], options);
  cleanups.push(() => endpoint.close(), () => bench.close());
  return { bench, endpoint };
}

const respond = (stream: ServerHttp2Stream) =>
  stream.respond({ ":status": 200, "content-type": V6 });

const timeouts = (inactivityTimeoutMs: number, abortTimeoutMs: number): HandlerOptions => ({
  inactivityTimeoutMs,
  abortTimeoutMs,
});

/** What an endpoint saw of one stream. */
interface Seen extends Frames {
  ended: boolean;
  /** The reset code, once the stream is closed. */
  closed?: number;
}

function watch(stream: ServerHttp2Stream): Seen {
  const seen: Seen = Object.assign(new Frames(), { ended: false });
  stream.on("data", (data: Uint8Array) => seen.push(data));
  stream.on("end", () => seen.ended = true);
  stream.on("close", () => seen.closed = stream.rstCode);
  return seen;
}

test("an attempt tells who it is, what is known, and hears the rest", async () => {
  let headers: IncomingHttpHeaders = {};
  let seen: Seen | undefined;
  const { bench, endpoint } = await stage((stream, received) => {
    headers = received;
    seen = watch(stream);
    respond(stream);
    stream.on("end", () => stream.end());
    stream.once("data", () => stream.write(join(say.run(1), say.output("ok"), say.end())));
  }, {
    clusterName: "here",
    deploy: { uri: "", additionalHeaders: { "X-Extra": "1", Accept: "mine" } },
  }).catch(() => {
    throw new Error("unreachable");
  });
  expect(endpoint.uri).toBeDefined();
  await bench.close();
  expect([headers, seen]).toBeDefined();
});
