import { createServer, type IncomingMessage, request, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of a test that is not ours. */
export interface Site {
  readonly port: number;
  close(): void;
}

async function listen(handle: RequestListener): Promise<Site> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => void server.close().closeAllConnections() };
}

/** Pages of somebody else, which are all empty. */
export function startSite(): Promise<Site> {
  return listen((_, answer) => {
    answer.writeHead(200, { "content-type": "text/html" }).end("<title>theirs</title><body>");
  });
}

export interface ProxyOptions {
  /** The path in front, such as `/ops`, which it takes away. */
  readonly prefix?: string;
  /** What it answers with 404 itself, as a server that does not have it. */
  readonly without?: RegExp;
  /** Is called for each answer, with what the browser has sent. */
  readonly onAnswer?: (passed: Passed) => void;
}

/** A request that was passed on, and its answer. */
export interface Passed {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly status: number;
}

/** A proxy in front of a server, which passes on the `Host` of the browser. */
export function startProxy(
  target: string,
  { prefix = "", without, onAnswer }: ProxyOptions = {},
): Promise<Site> {
  return listen((asked: IncomingMessage, answer) => {
    const { url = "/", method = "GET", headers } = asked;
    if (!url.startsWith(`${prefix}/`) || without?.test(url)) {
      return void answer.writeHead(404).end("{}");
    }
    const onward = request(target + url.slice(prefix.length), { method, headers }, (got) => {
      const { statusCode: status = 502 } = got;
      onAnswer?.({ method, url, headers, status });
      answer.writeHead(status, got.headers);
      got.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    // A stream of events goes on until somebody ends it.
    answer.on("close", () => onward.destroy());
    asked.pipe(onward);
  });
}
