// The real SDK with the handlers of the checklist. Usage: node services_protocol.mjs OPTIONS, where
// OPTIONS is JSON: { port, transport, folder, suffix, identityKeys?, revision? }
//   transport  h2: bidirectional over HTTP/2. h1: request-response over HTTP/1.1. h1bidi: HTTP/1.1,
//              but bidirectional. h2rr: request-response over HTTP/2
//   folder     side effects are lines in FOLDER/log, frames are lines in FOLDER/wire; what is held
//              waits for a file FOLDER/<id>.go
//   suffix     is added to every service name, so that endpoints share a server
//   revision   what the handler "revision" answers; from "2" there is a handler "added"
import http from "node:http";
import http2 from "node:http2";
import { worldOf } from "./handlers_world.mjs";
import { tapped } from "./tap.mjs";

// The SDK needs it and Node 20 lacks it: without, every invocation hangs.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
const restate = await import("@restatedev/restate-sdk");
const { plainServices } = await import("./handlers_plain.mjs");
const { keyedServices } = await import("./handlers_keyed.mjs");

const options = JSON.parse(process.argv[2]);
const { port, transport, folder, identityKeys } = options;
const world = worldOf(options);

const listener = tapped(
  restate.createEndpointHandler({
    services: [...plainServices(world), ...keyedServices(world)],
    bidirectional: transport === "h2" || transport === "h1bidi",
    ...(identityKeys ? { identityKeys } : {}),
  }),
  folder,
);
const server = transport.startsWith("h2")
  ? http2.createServer(listener)
  : http.createServer({ keepAliveTimeout: 60_000 }, listener);
await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
process.stdout.write("ready\n");
