import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { installBridge, nodeReader } from "../../adapters/node_bridge.ts";
import { type Handler, listen, type Listener } from "../../adapters/node_http.ts";
import type { LogLevel } from "../../src/ports.ts";

interface Entry {
  readonly level: LogLevel;
  readonly message: string;
}

installBridge();

const log: Entry[] = [];
let listener: Listener | undefined;
const cleanups: (() => void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  await listener?.close(0);
  listener = undefined;
  log.length = 0;
});

async function start(handler: Handler, headersTimeoutMs?: number): Promise<string> {
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    handler,
    log: (level, message) => log.push({ level, message }),
    ...(headersTimeoutMs === undefined ? {} : { headersTimeoutMs }),
  });
  return listener.url;
}

function dial(url: string): Socket & { text: string } {
  const socket = Object.assign(connect(Number(new URL(url).port), "127.0.0.1"), { text: "" });
  socket.on("data", (chunk) => socket.text += chunk).on("error", () => {});
  cleanups.push(() => socket.destroy());
  return socket;
}

function http2(url: string): ClientHttp2Session {
  const session = connectHttp2(url);
  session.on("error", () => {});
  cleanups.push(() => session.destroy());
  return session;
}

function exchange(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined });
    let text = "", head: Record<string, unknown> = {};
    stream.setEncoding("utf8").on("data", (chunk) => text += chunk).on("error", reject);
    stream.on("response", (received) => head = received as Record<string, unknown>);
    stream.on("end", () => resolve({ status: Number(head[":status"]), headers: head, text }));
    if (body !== undefined) stream.end(body);
  });
}

async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  return await nodeReader.body(request, { length: undefined, bytesMax: 1000 });
}

const hello: Handler = () => new Response("hello", { headers: { "x-a": "1" } });
const echo: Handler = async (request) =>
  new Response(new Uint8Array(await request.arrayBuffer()), {
    headers: { "x-method": request.method, "x-url": new URL(request.url).pathname },
  });

describe("one port for HTTP/1.1 and HTTP/2", () => {
  test("answers both", async () => {
    const url = await start(echo);
    const one = await fetch(`${url}/a%20b`, { method: "POST", body: "body" });
    expect([one.headers.get("x-url"), await one.text()]).toEqual(["/a%20b", "body"]);
    const two = await exchange(http2(url), { ":path": "/c", ":method": "POST" }, "two");
    expect([two.status, two.headers["x-url"], two.text]).toEqual([200, "/c", "two"]);
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

describe("bodies", () => {
  test("reads large bodies, in chunks and over HTTP/2, as text, bytes, buffer and stream", async () => {
    const read: Record<string, (request: Request) => Promise<string>> = {
      "/text": (request) => request.text(),
      "/reader": async (request) => {
        const length = request.headers.has("content-length") ? 1 : undefined;
        const bytes = await nodeReader.body(request, { length, bytesMax: 6_000_000 });
        return bytes ? new TextDecoder().decode(bytes) : "too large";
      },
      "/buffer": async (request) => new TextDecoder().decode(await request.arrayBuffer()),
      "/stream": async (request) => {
        let text = "";
        const decoder = new TextDecoder();
        for await (const chunk of request.body ?? []) {
          text += decoder.decode(chunk, { stream: true });
        }
        return text;
      },
    };
    const url = await start(async (request) =>
      new Response(await read[new URL(request.url).pathname]?.(request))
    );
    const session = http2(url);
    for (const size of [0, 1, 3_000_000]) {
      const body = "é".repeat(size);
      for (const path of Object.keys(read)) {
        const one = await fetch(url + path, { method: "POST", body });
        expect(await one.text() === body, `${path} ${size}`).toBe(true);
        const chunked = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(body));
            controller.close();
          },
        });
        const two = await fetch(
          url + path,
          { method: "POST", body: chunked, duplex: "half" } as RequestInit,
        );
        expect(await two.text() === body, `${path} ${size} chunked`).toBe(true);
        const three = await exchange(session, { ":path": path, ":method": "POST" }, body);
        expect(three.text === body, `${path} ${size} h2`).toBe(true);
      }
    }
  });

  test("stops keeping a body beyond the limit, on both versions", async () => {
    const url = await start(async (request) => {
      const bytes = await nodeReader.body(request, { length: undefined, bytesMax: 100_000 });
      return new Response(String(bytes?.length), { status: bytes ? 200 : 413 });
    });
    const session = http2(url);
    for (const [size, status] of [[100_000, 200], [100_001, 413], [5_000_000, 413]] as const) {
      const body = "x".repeat(size);
      expect((await fetch(url, { method: "POST", body })).status).toBe(status);
      const two = await exchange(session, { ":path": "/", ":method": "POST" }, body);
      expect(two.status).toBe(status);
    }
  });

  test("reads target and headers as they came", async () => {
    const url = await start((request) =>
      Response.json([nodeReader.target(request), nodeReader.headers(request)])
    );
    const socket = dial(url);
    socket.write("GET /a/../b%2F?c=%zz HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\n\r\n");
    await expect.poll(() => socket.text).toContain(
      JSON.stringify(["/a/../b%2F?c=%zz", ["Host", "a", "X-A", "1", "x-a", "2"]]),
    );
    const two = await exchange(http2(url), { ":path": "/a/../b", "x-a": "1" });
    expect(JSON.parse(two.text)).toEqual(["/a/../b", ["x-a", "1"]]);
  });

  test("a caller that hangs up in the middle of its body leaves no error behind", async () => {
    const seen: string[] = [];
    const url = await start(async (request) => {
      await bodyOf(request).catch((cause) => (seen.push(cause.name), Promise.reject(cause)));
      return new Response("late");
    });
    const socket = dial(url);
    socket.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nx");
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.destroy();
    await expect.poll(() => seen.length).toBe(1);
    await expect.poll(() => log.map(({ level }) => level)).toEqual(["debug"]);
  });

  test.each(["h1", "h2"])(
    "tells the handler of a caller that hangs up while it waits: %s",
    async (version) => {
      let aborted = false, waiting = false;
      const url = await start((request) =>
        new Promise((resolve) => {
          waiting = true;
          request.signal.addEventListener("abort", () => {
            aborted = true;
            resolve(new Response("late"));
          });
        })
      );
      const hangUp = version === "h1" ? hangUpHttp1(url) : hangUpHttp2(url);
      await expect.poll(() => waiting).toBe(true);
      hangUp();
      await expect.poll(() => aborted).toBe(true);
      expect(log).toEqual([]);
    },
  );
});

function hangUpHttp1(url: string): () => void {
  const controller = new AbortController();
  fetch(url, { signal: controller.signal }).catch(() => {});
  return () => controller.abort();
}

function hangUpHttp2(url: string): () => void {
  const stream = http2(url).request({ ":path": "/" });
  stream.on("error", () => {});
  return () => stream.close(8);
}

describe("limits and failures", () => {
  test("refuses more than 100 header lines with 431 and takes 90, on both versions", async () => {
    const url = await start(hello);
    const headers = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
    expect((await fetch(url, { headers: headers(90) })).status).toBe(200);
    expect((await fetch(url, { headers: headers(150) })).status).toBe(431);
    const session = http2(url);
    expect((await exchange(session, { ":path": "/", ...headers(90) })).status).toBe(200);
    expect((await exchange(session, { ":path": "/", ...headers(150) })).status).toBe(431);
  });

  test("takes a target of 60,000 characters and refuses a head of 200 KB", async () => {
    const url = await start(hello);
    expect((await fetch(`${url}/${"k".repeat(60_000)}`)).status).toBe(200);
    expect((await exchange(http2(url), { ":path": "/" + "k".repeat(60_000) })).status).toBe(200);
    const socket = dial(url);
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(200_000)}\r\n\r\n`);
    await expect.poll(() => socket.text).toMatch(/^HTTP\/1.1 431/);
  });

  test.each([
    ["throws", () => {
      throw new Error("secret");
    }],
    ["rejects", () => Promise.reject(new Error("secret"))],
  ])("hides what a handler that %s said, and logs it", async (_, handler) => {
    const response = await fetch(await start(handler as Handler));
    expect([response.status, await response.text()]).toEqual([500, "internal server error"]);
    expect(log.map(({ level }) => level)).toEqual(["error"]);
  });

  test("survives garbage and broken connections", async () => {
    const url = await start(hello);
    for (const bytes of ["", "P", "PRI", "PRI * HTTP/2.0\r\n\r\nXX", "\0\0\0\0", "GET"]) {
      const socket = dial(url);
      socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 5));
      socket.resetAndDestroy();
    }
    expect((await fetch(url)).status).toBe(200);
  });

  test.each(["", "PR", "GET / HTTP/1.1\r\nhost: a"])(
    "closes a connection that does not finish its head in time: %j",
    async (bytes) => {
      const socket = dial(await start(hello, 200));
      socket.write(bytes);
      await expect.poll(() => socket.closed, { timeout: 3000 }).toBe(true);
    },
  );

  test("lets a caller wait longer than the time a head may take", async () => {
    const url = await start(
      () => new Promise((resolve) => setTimeout(() => resolve(new Response("late")), 700)),
      200,
    );
    expect(await (await fetch(url)).text()).toBe("late");
    expect((await exchange(http2(url), { ":path": "/" })).text).toBe("late");
  });

  test("rejects with the reason when the port is taken", async () => {
    const url = await start(hello);
    const again = listen({
      host: "127.0.0.1",
      port: Number(new URL(url).port),
      handler: hello,
      log: () => {},
    });
    await expect(again).rejects.toMatchObject({ code: "EADDRINUSE" });
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
    expect(Date.now() - begun).toBeLessThan(2000);
    expect(await one).toBe("cut");
    await Promise.race([two, new Promise((resolve) => setTimeout(resolve, 500))]);
  });
});
