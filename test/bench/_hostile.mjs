// The endpoints of `fairness.mjs`, in a thread of their own: what they do must not delay the echoes
// that are measured. Tells where they listen; any message ends the streams that never end.
import http from "node:http";
import http2 from "node:http2";
import { parentPort } from "node:worker_threads";
import { freePort } from "./_process.mjs";

const OUTPUT_BYTES = 30 * 1024 * 1024;
const SERVICES = 5_000;

const frame = (type, body) => {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(type, 0);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
};
const varint = (value) => {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 + 128);
  return Buffer.from([...bytes, value]);
};
const field = (number, bytes) =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
const number = (at, value) => Buffer.concat([varint(at * 8), varint(value)]);
const sleepCommand = (completion) =>
  frame(0x040c, Buffer.concat([number(1, 4_000_000_000_000), number(11, completion)]));
const output = frame(0x0401, field(14, field(1, Buffer.alloc(OUTPUT_BYTES, "x"))));
const end = frame(0x0003, Buffer.alloc(0));

/** Serves `Chatty/run`, which never stops, and `Large/run`. `stop` ends the streams of the first. */
async function startHostile() {
  const chatty = new Set();
  const services = ["Chatty", "Large"].map((name) => ({
    name,
    ty: "SERVICE",
    handlers: [{ name: "run" }],
  }));
  const server = http2.createServer().on("stream", (stream, headers) => {
    stream.on("error", () => {}).on("close", () => chatty.delete(stream)).resume();
    const isDiscovery = headers[":path"].endsWith("/discover");
    const type = isDiscovery
      ? "application/vnd.restate.endpointmanifest.v3+json"
      : headers["content-type"];
    stream.respond({ ":status": 200, "content-type": type });
    if (isDiscovery) return stream.end(manifest(services, "BIDI_STREAM"));
    if (headers[":path"].includes("/Large/")) return stream.write(output), stream.end(end);
    chatty.add(stream);
    let completion = 0;
    const more = () => {
      if (!chatty.has(stream)) return;
      const frames = Array.from({ length: 500 }, () => sleepCommand(++completion));
      if (stream.write(Buffer.concat(frames))) setImmediate(more);
      else stream.once("drain", more);
    };
    more();
  });
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stop = () => [...chatty].forEach((stream) => (chatty.delete(stream), stream.close(8)));
  return { url: `http://127.0.0.1:${port}`, stop };
}

const manifest = (services, protocolMode) =>
  JSON.stringify({ protocolMode, minProtocolVersion: 5, maxProtocolVersion: 6, services });

/** Serves the manifest of many services. */
async function startMany() {
  const handlers = [{ name: "run" }];
  const services = Array.from({ length: SERVICES }, (_, i) => ({
    name: `Many${i}`,
    ty: "SERVICE",
    handlers,
  }));
  const body = manifest(services, "REQUEST_RESPONSE");
  const port = await freePort();
  const type = "application/vnd.restate.endpointmanifest.v3+json";
  await new Promise((resolve) =>
    http.createServer((_, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(body);
    }).listen(port, "127.0.0.1", resolve)
  );
  return `http://127.0.0.1:${port}`;
}

const [hostile, many] = [await startHostile(), await startMany()];
parentPort.on("message", hostile.stop);
parentPort.postMessage({ hostile: hostile.url, many });
