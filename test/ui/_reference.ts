import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { uiAnswer, type UiFiles } from "../../src/admin/ui_files.ts";
import { startTarget } from "../protocol/_target.ts";
import { buildUi } from "../support/build.ts";

/** The reference behind two addresses: its admin API with our UI below `/ui/`, and its ingress. */
export interface Reference {
  readonly ingress: string;
  readonly admin: string;
  close(): Promise<void>;
}

/** Starts the reference with our UI in front of it. */
export async function startReference(): Promise<Reference> {
  buildUi();
  const { built } = await import("../../dist/ui_assets.ts") as { built: UiFiles };
  const target = await startTarget({}, "reference");
  const admin = await listen(async (asked, answer) => {
    const { pathname } = new URL(asked.url ?? "/", target.admin);
    const page = new Request(target.admin + asked.url, { headers: headersOf(asked) });
    const options = { ui: () => built, ingressEndpoint: () => target.ingress };
    const response = await uiAnswer(page, pathname, options).catch(() => notFound());
    if (!response && pathname === "/version") return sendVersion(answer, target);
    if (!response) return forward(asked, answer, target.admin);
    answer.writeHead(response.status, Object.fromEntries(response.headers));
    answer.end(new Uint8Array(await response.arrayBuffer()));
  });
  // Specs call by our spelling.
  const ingress = await listen((asked, answer) => {
    asked.url = asked.url?.replace(/^\/svc\//, "/restate/");
    forward(asked, answer, target.ingress);
  });
  return {
    ingress: urlOf(ingress),
    admin: urlOf(admin),
    close: async () => {
      for (const one of [admin, ingress]) one.close().closeAllConnections();
      await target.close();
    },
  };
}

/** As an operator sets it: by itself it names an address of another network. */
async function sendVersion(
  answer: ServerResponse,
  { admin, ingress }: { readonly admin: string; readonly ingress: string },
): Promise<void> {
  const version = await (await fetch(`${admin}/version`)).json() as object;
  answer.writeHead(200, { "content-type": "application/json" });
  answer.end(JSON.stringify({ ...version, ingress_endpoint: ingress }));
}

const notFound = () => new Response("not found", { status: 404 });

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const { "accept-encoding": coding = "", "if-none-match": etag = "" } = headers;
  return { "accept-encoding": String(coding), "if-none-match": etag };
}

function listen(
  handle: (asked: IncomingMessage, answer: ServerResponse) => void | Promise<void>,
): Promise<Server> {
  const server = createServer((asked, answer) => void handle(asked, answer));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function forward(asked: IncomingMessage, answer: ServerResponse, to: string): void {
  const { method, headers, url = "/" } = asked;
  const onward = request(to + url, { method, headers }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  asked.pipe(onward);
}
