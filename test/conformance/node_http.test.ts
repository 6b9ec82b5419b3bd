import { describe, expect, test } from "vitest";
import type { Handler } from "../../adapters/platform/listener.ts";
import { empty } from "../../src/admin/reply.ts";
import { dial, echo, exchange, hello, http2, listener, start } from "./_node_http.ts";

describe("one port for HTTP/1.1 and HTTP/2", () => {
  test("answers both", async () => {
    const url = await start(echo);
    const one = await fetch(`${url}/a%20b`, { method: "POST", body: "body" });
    expect([one.headers.get("x-url"), await one.text()]).toEqual(["/a%20b", "body"]);
    const two = await exchange(http2(url), { ":path": "/c", ":method": "POST" }, "two");
    expect([two.status, two.headers["x-url"], two.text]).toEqual([200, "/c", "two"]);
  });

  test("has any status over HTTP/1.1, and no answer is lost over HTTP/2", async () => {
    const url = await start(() => new Response("told", { status: 700 }));
    const one = dial(url);
    one.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await expect.poll(() => one.text).toMatch(/^HTTP\/1.1 700[^]*told$/);
    const two = await exchange(http2(url), { ":path": "/" });
    expect([two.status, two.text]).toEqual([500, "told"]);
  });

  test("says of an answer that is only a status that it has no body", async () => {
    const socket = dial(await start(() => empty(202)));
    socket.write("PATCH / HTTP/1.1\r\nhost: a\r\n\r\n");
    await expect.poll(() => socket.text).toMatch(
      /^HTTP\/1.1 202[^]*content-length: 0\r\n[^]*\r\n\r\n$/,
    );
  });

  test("needs no host, and no more of an expectation than to hand it on", async () => {
    const url = await start((request) => new Response(request.headers.get("expect")));
    const socket = dial(url);
    socket.write("GET / HTTP/1.1\r\nexpect: miracles\r\n\r\n");
    await expect.poll(() => socket.text).toMatch(/^HTTP\/1.1 200[^]*miracles$/);
  });

  test("takes a target in bare UTF-8 as if it were percent-encoded", async () => {
    const url = await start(echo);
    const socket = dial(url);
    socket.write("POST /a/é%20ö?q=ü HTTP/1.1\r\nhost: a\r\nx: é\r\ncontent-length: 2\r\n\r\né");
    await expect.poll(() => socket.text).toMatch(
      /^HTTP\/1.1 200[^]*x-url: \/a\/%C3%A9%20%C3%B6\r\n[^]*\r\n\r\né$/i,
    );
  });

  test("understands a client that sends one byte at a time", async () => {
    const url = await start(echo);
    const socket = dial(url);
    for (const byte of "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi") {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    await expect.poll(() => socket.text).toMatch(/^HTTP\/1.1 200[^]*x-url: \/x[^]*\r\n\r\nhi$/);
  });

  test("takes PRI in pieces for HTTP/2, and POST and PUT for HTTP/1.1", async () => {
    const url = await start(hello);
    const two = dial(url);
    for (const part of ["P", "R", "I * HTTP/2.0\r\n\r\nSM\r\n\r\n"]) {
      two.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    two.write(Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0));
    await expect.poll(() => two.text.charCodeAt(3)).toBe(4); // A SETTINGS frame comes back.
    const one = dial(url);
    one.write("P");
    await new Promise((resolve) => setTimeout(resolve, 5));
    one.write("R /x HTTP/1.1\r\n\r\n");
    await expect.poll(() => one.text).toMatch(/^HTTP\/1.1 400/);
  });

  test("keeps an HTTP/1.1 connection, also with requests in a row before the first answer", async () => {
    const url = await start(hello);
    const socket = dial(url);
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(3));
    await expect.poll(() => socket.text.split("HTTP/1.1 200").length).toBe(4);
  });

  test("answers HTTP/1.0, honours Expect: 100-continue and ignores Upgrade: h2c", async () => {
    const url = await start(echo);
    const old = dial(url);
    old.write("GET / HTTP/1.0\r\n\r\n");
    await expect.poll(() => old.text).toMatch(/^HTTP\/1.1 200/);
    const polite = dial(url);
    polite.write("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 1\r\n\r\n");
    await expect.poll(() => polite.text).toMatch(/^HTTP\/1.1 100/);
    polite.write("x");
    await expect.poll(() => polite.text).toMatch(/HTTP\/1.1 200[^]*x$/);
    const upgrade = dial(url);
    upgrade.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");
    await expect.poll(() => upgrade.text).toMatch(/^HTTP\/1.1 200/);
  });

  test("announces 200 streams a connection", async () => {
    const session = http2(await start(hello));
    await new Promise((resolve) => session.once("remoteSettings", resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(200);
  });
});

describe("closing", () => {
  function gate(): { handler: Handler; open: () => void; waiting: () => number } {
    let waiting = 0;
    const resolves: (() => void)[] = [];
    return {
      handler: () => {
        waiting++;
        return new Promise((resolve) => resolves.push(() => resolve(new Response("done"))));
      },
      open: () => resolves.splice(0).forEach((resolve) => resolve()),
      waiting: () => waiting,
    };
  }

  test("refuses new connections at once and lets requests in flight finish", async () => {
    const { handler, open, waiting } = gate();
    const url = await start(handler);
    const idle = dial(url);
    const session = http2(url);
    const answers = [fetch(url), exchange(session, { ":path": "/" })] as const;
    await expect.poll(waiting).toBe(2);
    const closed = listener?.close(5000);
    await expect(fetch(url)).rejects.toThrow();
    await expect.poll(() => idle.closed).toBe(true);
    open();
    const one = await answers[0];
    expect([one.headers.get("connection"), await one.text()]).toEqual(["close", "done"]);
    expect((await answers[1]).text).toBe("done");
    await closed;
  });

  test("cuts what is left after the time to drain", async () => {
    const { handler, waiting } = gate();
    const url = await start(handler);
    const one = fetch(url).then(() => "answered", () => "cut");
    const two = exchange(http2(url), { ":path": "/" }).then(() => "answered", () => "cut");
    await expect.poll(waiting).toBe(2);
    const begun = Date.now();
    await listener?.close(100);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(await one).toBe("cut");
    expect(await two).toBe("cut");
  });
});
