import { createServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector got it. */
export interface Got {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number };
}

/** A collector that takes OTLP in JSON and keeps what it was sent. */
export class Collector {
  readonly spans: Got[] = [];
  readonly #server: HttpServer;

  constructor(server: HttpServer) {
    this.#server = server;
    server.on("request", (request, response) => {
      let text = "";
      request.setEncoding("utf8");
      request.on("data", (chunk) => text += chunk);
      request.on("end", () => {
        for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
          for (const { spans } of scopeSpans) this.spans.push(...spans);
        }
        response.setHeader("content-type", "application/json");
        response.end("{}");
      });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export async function startCollector(): Promise<Collector> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return new Collector(server);
}
