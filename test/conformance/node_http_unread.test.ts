import { Buffer } from "node:buffer";
import type { ClientHttp2Stream } from "node:http2";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Handler, NO_LIMITS, type PortLimits } from "../../adapters/platform/listener.ts";
import { OpenConnections } from "../../adapters/platform/open_connections.ts";
import { statusesOf } from "../attacks/_target.ts";
import { dial, exchange, hello, http2, log, startWith } from "./_node_http.ts";

const HEAD = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const ANSWER_BYTES = 100_000;
/** More than the system takes for a client that reads nothing. */
const LARGE_BYTES = 16 * 1024 * 1024;
const WAIT = { timeout: 20_000 };

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

function serving(
  limits: Partial<PortLimits>,
  { bytes = ANSWER_BYTES, open, begun = () => {} }: {
    readonly bytes?: number;
    readonly open?: OpenConnections;
    readonly begun?: () => void;
  } = {},
): Promise<string> {
  const handler: Handler = (request) => {
    begun();
    return request.url.endsWith("/small") ? hello(request) : new Response("x".repeat(bytes));
  };
  return startWith({ limits: { ...NO_LIMITS, ...limits }, handler, open });
}

/** Asks so often over a connection of HTTP/2 that takes no body of any answer. */
function taker(url: string, requests: number) {
  const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
  const state = { closed: false, statuses: [] as number[], resets: [] as number[] };
  session.on("error", () => {}).on("close", () => state.closed = true);
  cleanups.push(() => session.destroy());
  const ask = (): ClientHttp2Stream => {
    const stream = session.request({ ":path": "/" });
    stream.on("response", ({ ":status": status }) => state.statuses.push(Number(status)));
    stream.on("error", () => {}).on("close", () => state.resets.push(stream.rstCode ?? 0));
    return stream;
  };
  for (let i = 0; i < requests; i++) ask();
  return { ...{ session, state, ask }, answered: () => state.statuses.length };
}

describe("connections beyond the limit", () => {
  test("are closed at once, and there may be another when one has gone", async () => {
    const url = await serving({ connectionsMax: 2 });
    const ask = () =>
      Object.assign(dial(url), {}).on("connect", function (this: Socket) {
        this.write(HEAD.replace("/", "/small"));
      });
    const [first, second] = [ask(), ask()];
    await expect.poll(() => first.text + second.text, WAIT).toMatch(/200 OK[^]*200 OK/);
    const third = dial(url);
    await expect.poll(() => third.destroyed, WAIT).toBe(true);
    expect(third.text).toBe("");
    expect(log).toEqual([{ level: "warn", message: expect.stringContaining("as many are open") }]);
    first.destroy();
    await expect.poll(async () => {
      const next = ask();
      await new Promise((resolve) => next.once("data", resolve).once("close", resolve));
      return next.text;
    }, WAIT).toContain("200 OK");
  });
});

describe("a connection of HTTP/2 whose client reads no answer", () => {
  test("gets 503 for further requests, and others do not", async () => {
    const url = await serving({ unreadConnectionBytesMax: 3 * ANSWER_BYTES });
    const { state, answered, ask } = taker(url, 3);
    let asked = 4;
    await expect.poll(answered, WAIT).toBe(3);
    // Answers are counted when they are not sent after a moment.
    await expect.poll(async () => {
      ask();
      await expect.poll(answered, WAIT).toBe(asked++);
      return state.statuses.at(-1);
    }, WAIT).toBe(503);
    expect(state.statuses.filter((status) => ![200, 503].includes(status))).toEqual([]);
    const { status, text } = await exchange(http2(url), { ":path": "/" });
    expect([status, text.length]).toEqual([200, ANSWER_BYTES]);
  });

  test("may ask again when it has read what there was", async () => {
    const url = await serving({ unreadConnectionBytesMax: ANSWER_BYTES });
    const session = http2(url);
    for (let i = 0; i < 5; i++) {
      const { status, text } = await exchange(session, { ":path": "/" });
      expect([status, text.length]).toEqual([200, ANSWER_BYTES]);
    }
  });

  test("loses answers that nothing is read of in time, and goes on", async () => {
    const url = await serving({ unreadTimeoutMs: 200 });
    const { session, state } = taker(url, 2);
    await expect.poll(() => state.resets, WAIT).toEqual([8, 8]);
    expect(state.closed).toBe(false);
    expect((await exchange(session, { ":path": "/", ":method": "HEAD" })).status).toBe(200);
  });
});

describe("a connection of HTTP/1.1 whose client reads no answer", () => {
  test("is closed in time", async () => {
    const open = new OpenConnections();
    const url = await serving({ unreadTimeoutMs: 200 }, { bytes: LARGE_BYTES, open });
    const socket = connect(Number(new URL(url).port), "127.0.0.1").pause().on("error", () => {});
    cleanups.push(() => socket.destroy());
    socket.write(HEAD);
    await expect.poll(() => open.count().queuedBytes, WAIT).toBeGreaterThan(0);
    await expect.poll(() => open.count(), WAIT).toMatchObject({
      queuedBytes: 0,
      connections: { http1: 0 },
    });
  });

  test("is not closed while it reads a bit now and then", async () => {
    // Less than all of it takes, and more than a busy machine is away.
    const url = await serving({ unreadTimeoutMs: 1_500 }, { bytes: LARGE_BYTES });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    cleanups.push(() => socket.destroy());
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    socket.write(HEAD.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n"));
    await new Promise((resolve) => socket.once("end", resolve).once("error", resolve));
    expect(bytes).toBeGreaterThan(LARGE_BYTES);
  }, 60_000);
});

test("beyond the limit of all, the connections that hold most are closed", async () => {
  const url = await serving({ unreadBytesMax: 12 * ANSWER_BYTES, unreadTimeoutMs: 500 });
  const small = taker(url, 1), large = taker(url, 9), other = taker(url, 5);
  await expect.poll(() => small.answered() + large.answered() + other.answered(), WAIT).toBe(15);
  await expect.poll(() => large.state.closed, WAIT).toBe(true);
  expect([small.state.closed, other.state.closed]).toEqual([false, false]);
  expect(log.map(({ message }) => message)).toEqual([expect.stringContaining("do not read")]);
});

test("at twice that limit they are closed at once", async () => {
  let begun = 0;
  const url = await serving({ unreadBytesMax: 4 * ANSWER_BYTES }, { begun: () => begun++ });
  const { state } = taker(url, 100);
  await expect.poll(() => state.closed, WAIT).toBe(true);
  // Were it left to the sweep of each second, all would have begun.
  expect(begun).toBeLessThan(50);
});

describe("requests in a row over HTTP/1.1", () => {
  const MANY = 500;

  test("begin 32 at once, and all are answered in their order", async () => {
    const answers: (() => void)[] = [];
    let most = 0, at = 0;
    const url = await startWith({
      handler: ({ url }) => {
        const { pathname } = new URL(url);
        return new Promise((resolve) => answers.push(() => resolve(new Response(pathname))));
      },
    });
    const socket = dial(url);
    socket.write(Array.from({ length: MANY }, (_, i) => HEAD.replace("/", `/${i}`)).join(""));
    while (at < MANY) {
      await expect.poll(() => answers.length, WAIT).toBeGreaterThan(0);
      most = Math.max(most, answers.length);
      const some = answers.splice(0);
      at += some.length;
      // Later ones are answered first: their answers wait for their turn.
      for (const answer of some.toReversed()) answer();
    }
    expect(most).toBe(32);
    const ends = () => [...socket.text.matchAll(/\r\n\r\n\/(\d+)/g)].map(([, i]) => Number(i));
    await expect.poll(() => ends().length, WAIT).toBe(MANY);
    expect(ends()).toEqual(Array.from({ length: MANY }, (_, i) => i));
    expect(new Set(statusesOf(socket.text))).toEqual(new Set([200]));
  });

  test("with bodies that come later are answered as well", async () => {
    const url = await startWith({ handler: async (request) => new Response(await request.text()) });
    const socket = dial(url);
    const body = "y".repeat(2_000);
    const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`;
    const all = Buffer.from((head + body).repeat(MANY));
    for (let at = 0; at < all.length; at += 9_999) socket.write(all.subarray(at, at + 9_999));
    await expect.poll(() => socket.text.split(body).length - 1, WAIT).toBe(MANY);
  });

  test("are all over when their connection is, whoever's turn it was", async () => {
    let begun = 0, over = 0;
    const url = await startWith({
      handler: ({ signal }) => {
        begun++;
        return new Promise(() => signal.addEventListener("abort", () => over++));
      },
    });
    const socket = dial(url);
    socket.write(HEAD.repeat(MANY));
    await expect.poll(() => begun, WAIT).toBe(32);
    socket.destroy();
    await expect.poll(() => over, WAIT).toBe(32);
    expect(begun).toBe(32);
  });
});
