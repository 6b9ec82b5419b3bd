// What crosses the wire, as lines of JSON in FOLDER/wire, so that a test sees every attempt as the
// endpoint saw it, whichever server is at the other end.
import { appendFileSync } from "node:fs";
import path from "node:path";

let requests = 0;

/** Wraps a request listener: the same behavior, and every frame is noted. */
export function tapped(listener, folder) {
  const file = path.join(folder, "wire");
  return (request, response) => {
    const number = ++requests;
    const note = (what, more = {}) =>
      appendFileSync(file, `${JSON.stringify({ number, at: Date.now(), what, ...more })}\n`);
    const { headers, url } = request;
    note("open", {
      path: url,
      invocation: headers["x-svc-invocation-id"] ?? headers["x-restate-invocation-id"] ?? "",
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name[0] !== ":")),
    });
    tapInput(request, note);
    tapOutput(response, note);
    (request.httpVersionMajor >= 2 ? request : response).once("close", () => note("closed"));
    listener(request, response);
  };
}

function tapInput(request, note) {
  const frames = frameReader((frame) => note("in", frame));
  const push = request.push;
  request.push = (chunk, ...rest) => {
    if (chunk === null) note("inEnd");
    else frames(chunk);
    return push.call(request, chunk, ...rest);
  };
}

function tapOutput(response, note) {
  const frames = frameReader((frame) => note("out", frame));
  const { write, end, writeHead } = response;
  let isFramed = false;
  response.writeHead = (status, headers, ...rest) => {
    isFramed = JSON.stringify(headers ?? {}).includes("invocation.v");
    return writeHead.call(response, status, headers, ...rest);
  };
  response.write = (chunk, ...rest) => {
    if (isFramed) frames(chunk);
    return write.call(response, chunk, ...rest);
  };
  response.end = (...rest) => {
    note("outEnd", { status: response.statusCode });
    return end.apply(response, rest);
  };
}

function frameReader(onFrame) {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, Buffer.from(chunk)]);
    while (held.length >= 8 && held.length >= 8 + held.readUInt32BE(4)) {
      const end = 8 + held.readUInt32BE(4);
      onFrame({
        type: held.readUInt16BE(0),
        flags: held.readUInt16BE(2),
        body: held.subarray(8, end).toString("base64"),
      });
      held = held.subarray(end);
    }
  };
}
