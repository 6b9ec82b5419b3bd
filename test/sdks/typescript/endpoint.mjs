// node endpoint.mjs PORT [h2|h1|h1bidi|fetch|fetchbidi|lambda]: the services by one entry of the
// SDK. Copy this folder to one that has the SDK's version under test installed. Deno and Bun run it,
// too, as fetch or fetchbidi. lambda: what a function service is asked to invoke.
import http from "node:http";
import { services } from "./services.mjs";

const [port = "9080", mode = "h2"] = process.argv.slice(2);
const clients = await import("@restatedev/restate-sdk-clients").catch(() => undefined);
const entries = {
  fetch: () => import("@restatedev/restate-sdk/fetch"),
  lambda: () => import("@restatedev/restate-sdk/lambda"),
};
const entry = mode.replace("bidi", "");
const restate = await (entries[entry]?.() ?? import("@restatedev/restate-sdk"));

/** The endpoint as builders of every age make it. */
function built() {
  const endpoint = restate.endpoint();
  for (const service of services(restate, clients)) endpoint.bind(service);
  return endpoint;
}

const bodyOf = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};

/** Serves a function of web standards by Node's own server. */
function serveWeb(web) {
  http.createServer(async (request, response) => {
    const { method, headers } = request;
    const body = method === "POST" ? await bodyOf(request) : undefined;
    const url = `http://127.0.0.1:${port}${request.url}`;
    const answer = await web(new Request(url, { method, headers, body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }).listen(Number(port));
}

/** Stands in for the service that runs functions. */
function serveFunction(handler) {
  http.createServer(async (request, response) => {
    const event = JSON.parse(String(await bodyOf(request)));
    const answer = await handler(event, { awsRequestId: "request" });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(Number(port));
}

if (mode === "h2") await built().listen(Number(port));
else if (mode === "lambda") serveFunction(built().handler());
else if (entry === "fetch") {
  const endpoint = built();
  if (mode === "fetchbidi") endpoint.bidirectional();
  const { fetch } = endpoint.handler();
  if (globalThis.Deno) {
    Deno.serve({ port: Number(port) }, (request) => fetch(request));
  } else if (globalThis.Bun) {
    Bun.serve({ port: Number(port), fetch: (request) => fetch(request) });
  } else serveWeb(fetch);
} else {
  const bidirectional = mode === "h1bidi";
  const options = { services: services(restate, clients), bidirectional };
  http.createServer(restate.createEndpointHandler(options)).listen(Number(port));
}
console.log("ready");
