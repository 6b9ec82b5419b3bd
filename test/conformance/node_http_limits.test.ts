import { describe, expect, test } from "vitest";
import { nodeReader } from "../../adapters/node/bridge.ts";
import { listen } from "../../adapters/node/listen.ts";
import type { Handler } from "../../adapters/platform/listener.ts";
import { dial, exchange, hello, http2, log, start } from "./_node_http.ts";

async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  return await nodeReader.body(request, { length: undefined, bytesMax: 1000 });
}

const reads: Record<string, (request: Request) => Promise<string>> = {
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

describe("bodies", () => {
  test("reads large bodies, in chunks and over HTTP/2, as text, bytes, buffer and stream", async () => {
    const url = await start(async (request) =>
      new Response(await reads[new URL(request.url).pathname]?.(request))
    );
    const session = http2(url);
    for (const size of [0, 1, 3_000_000]) {
      const body = "é".repeat(size);
      for (const path of Object.keys(reads)) {
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
    const socket = dial(url);
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\n${"x: 1\r\n".repeat(100)}\r\n`);
    await expect.poll(() => socket.text).toMatch(/^HTTP\/1.1 431[^]*content-length: 0\r\n/);
    expect(socket.text).toMatch(/connection: close/i);
  });

  test("takes exactly 100 header lines, and not 101", async () => {
    const url = await start(hello);
    for (const [count, status] of [[100, 200], [101, 431]] as const) {
      const one = dial(url);
      one.write(`GET / HTTP/1.1\r\n${"x: 1\r\n".repeat(count)}\r\n`);
      await expect.poll(() => one.text).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
    }
  });

  test("refuses a target of more than 65,534 characters with 414", async () => {
    const url = await start(hello);
    const statusOf = async (length: number) =>
      (await fetch(`${url}/${"k".repeat(length - 1)}`)).status;
    expect([await statusOf(65_534), await statusOf(65_535)]).toEqual([200, 414]);
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
