// The real SDK, as scripts host it that tests run. Usage of each: node SCRIPT PORT h2|h1 FOLDER
//   h2: HTTP/2 cleartext, bidirectional. h1: HTTP/1.1, request-response (what functions speak).
//   FOLDER: side effects are lines in FOLDER/log.
import { appendFileSync } from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import path from "node:path";

// The SDK needs it and Node 20 lacks it: without, every invocation hangs.
Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};
export const restate = await import("@restatedev/restate-sdk");

const [port, mode, folder] = process.argv.slice(2);

/** O_APPEND and one write a line: lines of several processes never mix. */
export const note = (line) => appendFileSync(path.join(folder, "log"), `${line}\n`);

/** Serves these services, and says so. */
export async function serve(services) {
  const handler = restate.createEndpointHandler({ services, bidirectional: mode === "h2" });
  const server = mode === "h2" ? http2.createServer(handler) : http.createServer(handler);
  await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
  process.stdout.write("ready\n");
}
