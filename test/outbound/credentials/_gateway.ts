import http, { type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import type { Endpoint } from "../../support/endpoint.ts";

/** Whether a request may pass. Throws or rejects for one that may not. */
export type Check = (headers: IncomingHttpHeaders) => unknown;

/** What stands in front of an endpoint and lets only requests pass that show what it asks for. */
export interface Gateway {
  /** As an endpoint is registered. */
  readonly url: string;
  readonly transport: Endpoint["transport"];
  /** What requests have shown, and whether they passed. */
  readonly seen: readonly { readonly path: string; readonly passed: boolean }[];
  /** May be replaced while it runs. */
  check: Check;
  close(): void;
}

/** A gateway on a free port, which speaks what its endpoint speaks. */
export async function startGateway(endpoint: Endpoint, check: Check): Promise<Gateway> {
  const seen: { path: string; passed: boolean }[] = [];
  const passes = async (path: string, headers: IncomingHttpHeaders): Promise<boolean> => {
    const passed = await Promise.resolve().then(() => gateway.check(headers))
      .then(() => true, () => false);
    seen.push({ path, passed });
    return passed;
  };
  const server = endpoint.transport === "h1"
    ? http.createServer((request, response) => void forward1(request, response, endpoint, passes))
    : http2.createServer();
  const clients: http2.ClientHttp2Session[] = [];
  if (endpoint.transport === "h2") {
    const client = http2.connect(endpoint.url);
    clients.push(client);
    server.on("stream", (stream, headers) => void forward2(stream, headers, client, passes));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    for (const client of clients) client.destroy();
    server.close();
  };
  const gateway: Gateway = { url, transport: endpoint.transport, seen, check, close };
  return gateway;
}

type Passes = (path: string, headers: IncomingHttpHeaders) => Promise<boolean>;

async function forward1(
  request: IncomingMessage,
  response: http.ServerResponse,
  { url }: Endpoint,
  passes: Passes,
): Promise<void> {
  const { method, headers } = request;
  const path = request.url ?? "/";
  if (!await passes(path, headers)) return void response.writeHead(401).end("no");
  const inner = http.request(url + path, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  inner.on("error", () => response.destroy());
  request.pipe(inner);
}

async function forward2(
  stream: http2.ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  client: http2.ClientHttp2Session,
  passes: Passes,
): Promise<void> {
  stream.on("error", () => {});
  if (!await passes(String(headers[":path"]), headers)) {
    stream.respond({ ":status": 401 });
    return void stream.end("no");
  }
  const inner = client.request({ ...headers, ":authority": new URL("http://endpoint").host });
  inner.on("error", () => stream.destroy());
  inner.on("response", ({ ":status": status, ...rest }) => {
    stream.respond({ ...rest, ":status": status });
    inner.pipe(stream);
  });
  stream.pipe(inner);
}
