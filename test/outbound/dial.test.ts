import http2 from "node:http2";
import net from "node:net";
import { expect, test } from "vitest";
import { certificate } from "./_certificate.ts";
import { type Endpoint, h1Endpoint, h2Endpoint, listen, until } from "./_endpoint.ts";
import { bytes, dialer, open, over, started } from "./_talk.ts";

function echo() {
  return h2Endpoint((stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  });
}

test("h2: an endpoint that accepts long headers receives them", async () => {
  const long = "k".repeat(60_000);
  const server = http2.createServer({ settings: { maxHeaderListSize: 200_000 } });
  server.on("stream", (stream, { one, two }) => {
    stream.respond({ ":status": 200 });
    stream.end(String(one === long && two === long));
  });
  const endpoint = await started(listen(server));
  const talk = open(dialer(), endpoint.uri, { version: "h2", headers: { one: long, two: long } });
  talk.exchange.end();
  await until(() => over(talk));
  expect(talk.received).toEqual(["200 HTTP/2.0", "true", "end"]);
});

for (const version of ["h1", "h2"] as const) {
  test(`${version}: both bodies flow at once`, async () => {
    const endpoint = await started(
      version === "h2" ? echo() : h1Endpoint((request, response) => {
        response.writeHead(200);
        request.pipe(response);
      }),
    );
    const talk = open(dialer(), endpoint.uri, { version });
    const protocol = version === "h2" ? "HTTP/2.0" : "HTTP/1.1";
    talk.exchange.write(bytes("one"));
    await until(() => talk.received.length === 2);
    talk.exchange.write(bytes("two"));
    await until(() => talk.received.length === 3);
    talk.exchange.end();
    await until(() => over(talk));
    expect(talk.received).toEqual([`200 ${protocol}`, "one", "two", "end"]);
  });

  test(`${version}: an address without a server is unreachable`, async () => {
    const closed = await h1Endpoint(() => {});
    await closed.close();
    const talk = open(dialer(), closed.uri, { version });
    await until(() => over(talk));
    expect(talk.received).toEqual(["failed unreachable"]);
  });

  test(`${version}: a connection that breaks is a reset`, async () => {
    const server = net.createServer((socket) => {
      socket.on("error", () => {});
      // An HTTP/2 server sends first; this one sends empty settings.
      if (version === "h2") socket.write(new Uint8Array([0, 0, 0, 4, 0, 0, 0, 0, 0]));
      socket.on("data", (data) => data.includes("asked") && socket.destroy());
      if (version === "h2") setTimeout(() => socket.destroy(), 50);
    });
    const endpoint = await started(listen(server));
    const talk = open(dialer(), endpoint.uri, { version });
    talk.exchange.write(bytes("x"));
    await until(() => over(talk));
    expect(talk.received).toEqual(["failed reset"]);
  });

  test(`${version}: a header that HTTP does not allow fails its own exchange only`, async () => {
    const talk = open(dialer(), "http://127.0.0.1:9/", { version, headers: { "a b": "\n" } });
    await until(() => over(talk));
    expect(talk.received).toEqual(["failed unreachable"]);
  });

  test(`${version}: an aborted exchange is over for both sides`, async () => {
    let gone = false;
    const endpoint = await started(
      version === "h2"
        ? h2Endpoint((stream) => {
          stream.respond({ ":status": 200 });
          stream.on("close", () => gone = stream.rstCode === http2.constants.NGHTTP2_CANCEL);
        })
        : h1Endpoint((_, response) => {
          response.writeHead(200);
          response.flushHeaders();
          response.on("close", () => gone = true);
        }),
    );
    const talk = open(dialer(), endpoint.uri, { version });
    talk.exchange.write(bytes("x"));
    await until(() => talk.received.length === 1);
    talk.exchange.abort();
    talk.exchange.abort();
    talk.exchange.end();
    await until(() => gone);
    expect(talk.received).toHaveLength(1);
  });

  test(`${version}: writing waits for a slow reader, and a paused response is held back`, async () => {
    let sent = 0;
    let read = 0;
    const large = new Uint8Array(64 * 1024);
    const script = (request: NodeJS.ReadableStream, response: NodeJS.WritableStream) => {
      const more = () => {
        while (response.write(large)) sent += large.length;
      };
      response.on("drain", more);
      more();
      request.on("data", (data) => read += data.length).pause();
      setTimeout(() => request.resume(), 100);
    };
    const endpoint = await started(
      version === "h2"
        ? h2Endpoint((stream) => {
          stream.respond({ ":status": 200 });
          script(stream, stream);
        })
        : h1Endpoint((request, response) => {
          response.writeHead(200);
          script(request, response);
        }),
    );
    const talk = open(dialer(), endpoint.uri, { version });
    talk.exchange.write(bytes("x"));
    talk.exchange.pause();
    for (let i = 0; i < 200; i++) talk.exchange.write(large);
    expect(talk.exchange.write(bytes("x"))).toBe(false);
    await until(() => read === 200 * large.length + 2);
    await until(() => talk.drained > 0);
    expect(talk.received.filter((line) => line.startsWith("\0"))).toEqual([]);
    // As much as fits into windows and sockets.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    talk.exchange.resume();
    await until(() => talk.received.length > 20);
    talk.exchange.abort();
  });
}

test("an HTTP/1.1 server is recognized where HTTP/2 was spoken", async () => {
  const endpoint = await started(h1Endpoint((_, response) => response.end()));
  const talk = open(dialer(), endpoint.uri, { method: "GET" });
  await until(() => over(talk));
  expect(talk.received).toEqual(["failed http1"]);
});

test("a server that closes at once is taken for an HTTP/1.1 server", async () => {
  const endpoint = await started(listen(net.createServer((socket) => socket.destroy())));
  const talk = open(dialer(), endpoint.uri);
  await until(() => over(talk));
  expect(talk.received).toEqual(["failed http1"]);
});

test("a server that sends nothing fails with the connect timeout", async () => {
  const endpoint = await started(listen(net.createServer(() => {})));
  const talk = open(dialer(), endpoint.uri, { connectTimeoutMs: 30 });
  await until(() => over(talk));
  expect(talk.received).toEqual(["failed unreachable"]);
});

test("a stream reset by the server is reported as a reset, and the session stays open", async () => {
  const endpoint = await started(h2Endpoint((stream, headers) => {
    stream.respond({ ":status": 200 });
    if (headers[":path"] === "/reset") setTimeout(() => stream.destroy(new Error("x")), 10);
    else stream.end("fine");
  }));
  const dial = dialer();
  const broken = open(dial, `${endpoint.uri}reset`);
  const fine = open(dial, endpoint.uri);
  await until(() => over(broken) && over(fine));
  expect(broken.received).toEqual(["200 HTTP/2.0", "failed reset"]);
  expect(fine.received).toEqual(["200 HTTP/2.0", "fine", "end"]);
  expect(endpoint.connections()).toBe(1);
});

test("over TLS, ALPN decides between HTTP/2 and HTTP/1.1", async () => {
  const { key, cert } = certificate();
  const https = await import("node:https");
  const both = http2.createSecureServer({ key, cert, allowHTTP1: true }, (_, response) => {
    response.end("both");
  });
  const h2 = await started(listen(both));
  const h1 = await started(listen(https.createServer({ key, cert }, (_, response) => {
    response.end("one");
  })));
  const dial = dialer({ tls: () => ({ ca: [cert] }) });
  const secure = ({ port }: Endpoint) => `https://127.0.0.1:${port}/`;
  const talks = [
    open(dial, secure(h2), { method: "GET", version: "alpn" }),
    open(dial, secure(h1), { method: "GET", version: "alpn" }),
    open(dial, secure(h2), { method: "GET", version: "h1" }),
    open(dial, secure(h2), { method: "GET", version: "h2" }),
    open(dial, secure(h1), { method: "GET", version: "h2" }),
    open(dialer(), secure(h1), { method: "GET", version: "alpn" }),
  ];
  await until(() => talks.every(over));
  expect(talks.map(({ received }) => received)).toEqual([
    ["200 HTTP/2.0", "both", "end"],
    ["200 HTTP/1.1", "one", "end"],
    ["200 HTTP/1.1", "both", "end"],
    ["200 HTTP/2.0", "both", "end"],
    ["failed http1"],
    ["failed unreachable"],
  ]);
});
