// An endpoint that does no work, so that a run measures the server alone: over cleartext HTTP/2 it
// serves `Null/echo`, which answers at once, `Null/wait`, which suspends until a signal that never comes,
// `Null/due`, which notes when it is called beside the time in its input, and the object `Box/set`, which also
// writes state. `/noted` answers what was noted: pairs of milliseconds since the epoch.
// Usage: node null_endpoint.mjs PORT
import http2 from "node:http2";

const port = Number(process.argv[2]);
const json = { contentType: "application/json" };
const manifest = {
  protocolMode: "BIDI_STREAM",
  minProtocolVersion: 5,
  maxProtocolVersion: 6,
  services: [
    {
      name: "Null",
      ty: "SERVICE",
      handlers: ["echo", "wait", "due"].map((name) => ({ name, input: json, output: json })),
    },
    {
      name: "Box",
      ty: "VIRTUAL_OBJECT",
      handlers: [{ name: "set", ty: "EXCLUSIVE", input: json, output: json }],
    },
  ],
};

function frame(type, ...fields) {
  const body = Buffer.concat(fields);
  const head = Buffer.alloc(8);
  head.writeUInt16BE(type, 0);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

function field(number, bytes) {
  return Buffer.concat([Buffer.from([number << 3 | 2, bytes.length]), bytes]);
}

const value = (text) => field(1, Buffer.from(text));
const answer = [frame(0x0401, field(14, value('"ok"'))), frame(0x0003)];
/** The first signal of an invocation. */
const SIGNAL = Buffer.from([2 << 3 | 2, 1, 17]);
const answers = {
  echo: Buffer.concat(answer),
  due: Buffer.concat(answer),
  wait: frame(0x0001, SIGNAL),
  set: Buffer.concat([frame(0x0403, field(1, Buffer.from("v")), field(3, value("1"))), ...answer]),
};

const noted = [];

function note(request) {
  const [due] = /\d{13}/.exec(request.toString("latin1").split('{"due":')[1] ?? "") ?? [];
  noted.push([Number(due), Date.now()]);
}

http2.createServer((request, response) => {
  if (request.url === "/noted") return response.end(JSON.stringify(noted.splice(0)));
  if (request.url.endsWith("/discover")) {
    const type = "application/vnd.restate.endpointmanifest.v3+json";
    response.setHeader("content-type", type);
    return response.end(JSON.stringify(manifest));
  }
  request.once("data", (bytes) => {
    if (request.url.endsWith("/due")) note(bytes);
    response.writeHead(200, { "content-type": request.headers["content-type"] });
    response.end(answers[request.url.split("/").at(-1)]);
  });
  request.resume();
}).listen(port, "127.0.0.1", () => console.log(`ready ${port}`));
