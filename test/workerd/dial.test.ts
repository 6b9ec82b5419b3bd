import { createServer, type RequestListener, type Server } from "node:http";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { fetchDial } from "../../adapters/workerd/fetch_dial.ts";
import { parseEgressRule } from "../../src/config/egress_rule.ts";
import type { DialRequest, Exchange } from "../../src/dial.ts";
import { Egress } from "../../src/outbound/egress/egress.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** Opens an exchange, and gathers what is heard of it. */
function open(url: string, more: Partial<DialRequest> = {}, egress = new Egress()) {
  const heard: string[] = [];
  const waiting: (() => void)[] = [];
  const hear = (line: string) => {
    heard.push(line);
    for (const call of waiting.splice(0)) call();
  };
  const exchange = fetchDial(egress).open(
    { url, method: "POST", headers: { "x-a": "1" }, version: "h1", connectTimeoutMs: 1, ...more },
    {
      head: ({ status, httpVersion, header }) =>
        hear(`${status} ${httpVersion} ${header("x-b")} ${header("x-none")}`),
      chunk: (chunk) => hear(new TextDecoder().decode(chunk)),
      end: () => hear("end"),
      failed: ({ kind, message }) => hear(`${kind}: ${message}`),
      drain: () => hear("drain"),
    },
  );
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((resolve) => waiting.push(resolve));
    return heard;
  };
  return { exchange, heard, until };
}

const over = (heard: readonly string[]) => () => /^end|^[a-z]+:/.test(heard.at(-1) ?? "");

function say(exchange: Exchange, ...texts: string[]): void {
  for (const text of texts) expect(exchange.write(bytes(text))).toBe(true);
  exchange.end();
}

test("sends the whole request, and hears head, chunks and end in this order", async () => {
  const url = await serve((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece) => pieces.push(piece)).on("end", () => {
      const { method, headers } = request;
      response.writeHead(207, { "x-b": "2" });
      response.end(`${method} ${headers["x-a"]} ${headers["content-length"]} ${pieces.join("")}`);
    });
  });
  const { exchange, heard, until } = open(url);
  say(exchange, "one ", "two");
  expect(await until(over(heard))).toEqual(["207 HTTP/1.1 2 undefined", "POST 1 7 one two", "end"]);
});

test("hears chunks as they come, and none while it is paused", async () => {
  let go = () => {};
  const url = await serve((_request, response) => {
    response.write("a");
    go = () => void response.end("b");
  });
  const { exchange, heard, until } = open(url);
  say(exchange, "x");
  await until(() => heard.includes("a"));
  exchange.pause();
  go();
  // Whatever is on its way arrives; one read that was under way may still be heard.
  await fetch(await serve((_request, response) => void response.end()));
  expect(heard).not.toContain("end");
  exchange.resume();
  expect(await until(over(heard))).toEqual(["200 HTTP/1.1 undefined undefined", "a", "b", "end"]);
});

test("does not follow where it was not sent", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const { exchange, heard, until } = open(url);
  say(exchange, "x");
  expect((await until(over(heard)))[0]).toMatch(/^307/);
});

test("tells a connection that broke from one that never was", async () => {
  const url = await serve((_request, response) => {
    response.write("a", () => response.destroy());
  });
  const broken = open(url);
  say(broken.exchange, "x");
  expect((await broken.until(over(broken.heard))).at(-1)).toMatch(/^reset: /);
  const server = servers[0];
  await new Promise((resolve) => server?.close(resolve));
  const none = open(url);
  say(none.exchange, "x");
  expect(await none.until(over(none.heard))).toEqual([expect.stringMatching(/^unreachable: /)]);
});

test("hears nothing after an abort, before and after the request is sent", async () => {
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => arrived = resolve);
  const closed: Promise<void>[] = [];
  const url = await serve((request, response) => {
    closed.push(new Promise((resolve) => request.once("close", resolve)));
    response.write("a");
    arrived();
  });
  const early = open(url);
  early.exchange.write(bytes("x"));
  early.exchange.abort();
  early.exchange.end();
  const pending = open(url);
  say(pending.exchange, "x");
  await arrival;
  pending.exchange.abort();
  const before = pending.heard.length;
  await Promise.all(closed);
  expect(closed).toHaveLength(1);
  expect([early.heard, pending.heard.length]).toEqual([[], before]);
});

test("says what to do about an endpoint that speaks HTTP/2 only", async () => {
  const server = http2.createServer();
  server.on("sessionError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { exchange, heard, until } = open(`http://127.0.0.1:${port}/x`, { method: "GET" });
  exchange.end();
  const [said] = await until(over(heard));
  server.close();
  expect(said).toMatch(/HTTP\/2 only.*without HTTP\/1\.1/);
});

test("asks no address and no name that is refused, and says why", async () => {
  let asked = 0;
  const url = await serve((_, response) => {
    asked++;
    response.end();
  });
  const egress = new Egress({ deny: ["127.0.0.1", "*.example"].map(parseEgressRule) });
  for (const refused of [url, "https://a.example/", "http://metadata.google.internal/"]) {
    const { exchange, heard, until } = open(refused, {}, egress);
    say(exchange, "x");
    expect(await until(over(heard))).toEqual([
      expect.stringMatching(/^forbidden: .* is refused: /),
    ]);
  }
  expect(asked).toBe(0);
});

test("does not follow a redirect", async () => {
  let asked = 0;
  const target = await serve((_, response) => {
    asked++;
    response.end();
  });
  const url = await serve((_, response) => response.writeHead(307, { location: target }).end());
  const { exchange, heard, until } = open(url);
  say(exchange, "x");
  expect((await until(over(heard)))[0]).toMatch(/^307 /);
  expect(asked).toBe(0);
});
