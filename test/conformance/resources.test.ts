import { readdirSync } from "node:fs";
import { get as httpGet } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { until } from "../support/child.ts";
import { call, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type RuntimeName, type Server, startServer } from "../support/server.ts";
import { data, get, post, PREFACE, SETTINGS, SETTINGS_ACK } from "./_http2_bytes.ts";
import { Relay } from "./_relay.ts";

const TEST_MS = 60_000;
const EACH = 5;
/** What a heap may be: these connections leave nothing in it, but collection comes late. */
const HEAP_BYTES_MAX = 128 * 1024 * 1024;

vi.setConfig({ testTimeout: TEST_MS, hookTimeout: TEST_MS });

type Port = "ingress" | "admin";

interface Shape {
  readonly first: string;
  /** What has come back when the connection is where it shall be. */
  readonly isThere?: (text: string) => boolean;
  readonly state: "fresh" | "http1" | "http2";
  readonly streams?: number;
}

const isGreeted = (text: string) => text.length >= 9;
/** Paths of a port: one that answers at once, and one that takes a body. */
const PATHS = {
  ingress: { quick: "/svc/health", body: "/svc/call/Greeter/greet" },
  admin: { quick: "/health", body: "/query" },
} as const;

const OPENED = PREFACE + SETTINGS + SETTINGS_ACK;
const JSON_HEAD = "HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";

function shapes(port: Port): Readonly<Record<string, Shape>> {
  const { quick, body } = PATHS[port];
  const isAnswered = (text: string) => text.includes("200 OK");
  const head = `GET ${quick} HTTP/1.1\r\nhost: a\r\n`;
  const half = `POST ${body} ${JSON_HEAD}content-length: 9\r\n\r\nabc`;
  const halfOfTwo = OPENED + post(body) + data("abc", { isLast: false });
  return {
    "nothing sent": { first: "", state: "fresh" },
    "half a preface": { first: "PR", state: "fresh" },
    "half a head": { first: head, state: "http1" },
    "an answered request": { first: `${head}\r\n`, isThere: isAnswered, state: "http1" },
    "half a body": { first: half, state: "http1" },
    "HTTP/2, nothing asked": { first: OPENED, isThere: isGreeted, state: "http2" },
    "HTTP/2, an answered request": {
      first: OPENED + get(quick),
      isThere: (text) => text.length > 60,
      state: "http2",
    },
    "HTTP/2, half a body": { first: halfOfTwo, isThere: isGreeted, state: "http2", streams: 1 },
    ...(port === "ingress" && CALLS),
  };
}

/** An endpoint's handler works on them. */
const CALLS: Readonly<Record<string, Shape>> = {
  "a call in progress": {
    first: `POST /svc/call/Greeter/hang ${JSON_HEAD}content-length: 6\r\n\r\n"hung"`,
    state: "http1",
  },
  "HTTP/2, a call in progress": {
    first: OPENED + post("/svc/call/Greeter/hang") + data(`"hung"`, { isLast: true }),
    isThere: isGreeted,
    state: "http2",
    streams: 1,
  },
};

/** How a caller ends: all of them leave the server nothing to wait for. */
const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
  "FIN": (socket) => socket.destroy(),
  "FIN, and goes on reading": (socket) => socket.end(),
  "RST": (socket) => socket.resetAndDestroy(),
};

const sockets: Socket[] = [];
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()));

async function open(url: string, { first, isThere = () => true }: Shape): Promise<Socket> {
  const socket = connect({
    port: Number(new URL(url).port),
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  sockets.push(socket);
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk) => text += chunk).on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(first, "latin1");
  await until("the connection to get there", () => isThere(text));
  return socket;
}

/** The page of metrics, over a connection of its own that is closed behind it. */
async function page(server: Server) {
  const text = await new Promise<string>((resolve, reject) => {
    httpGet(`${server.admin}/metrics`, { agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk) => text += chunk);
      answer.on("end", () => resolve(text));
    }).on("error", reject);
  });
  const families = parseMetrics(text);
  return (name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(families, `perdure_${name}`, labels) ?? Number.NaN;
}

/** The descriptors of a server's process. */
const descriptorsOf = ({ pid }: Server) => readdirSync(`/proc/${pid}/fd`).length;

/** Waits until no more descriptors are open than before, and says which were when they stay. */
async function comesBack(server: Server, before: number): Promise<void> {
  const now = () => descriptorsOf(server);
  await until("descriptors to be closed", () => now() <= before, 20_000).catch((cause) => {
    throw new Error(`${cause.message}: ${before} before, ${now()} now`);
  });
}

describe.skipIf(process.platform !== "linux").each<RuntimeName>(["node", "deno"])(
  "what connections of callers take comes back, on %s",
  (runtime) => {
    let [server, endpoint, before] = [] as unknown as [Server, Endpoint, number];
    beforeAll(async () => {
      endpoint = await startEndpoint("h2");
      server = await startServer({ runtime });
      expect((await register(server, endpoint)).status).toBe(201);
      // What is opened once: a second connection to the database, a process for queries.
      expect((await call(server, "Greeter/greet", "a")).status).toBe(200);
      await query(server, "select 1");
      await send(server, "Greeter/hang", "hung");
      await endpoint.happens("hung hang");
      before = descriptorsOf(server);
    });
    afterAll(async () => {
      endpoint?.release("hung");
      await server?.close();
      await endpoint?.close();
    });

    const isCounting = runtime === "node";
    const ends = (["ingress", "admin"] as const).flatMap((port) =>
      Object.keys(ENDS).map((end) => [port, end] as const)
    );
    test.each(ends)("%s: those that end with %s", async (port, end) => {
      await endAll(server, { port, end, before, isCounting });
      if (isCounting) await nothingIsCounted(server, before);
    });
  },
);

/** Opens connections of every shape, sees them counted, ends them, and waits for what they took. */
async function endAll(server: Server, { port, end, before, isCounting }: {
  readonly port: Port;
  readonly end: string;
  readonly before: number;
  readonly isCounting: boolean;
}): Promise<void> {
  for (const [name, shape] of Object.entries(shapes(port))) {
    const opened: Socket[] = [];
    for (let i = 0; i < EACH; i++) opened.push(await open(server[port], shape));
    if (isCounting) await isCounted(server, port, { name, ...shape });
    for (const socket of opened) ENDS[end]?.(socket);
    await comesBack(server, before).catch((cause) => {
      throw new Error(`${name}: ${cause.message}`);
    });
  }
}

/** `fetch` keeps the connection with which the test made its own calls. */
const OWN_MAX = 1;

async function nothingIsCounted(server: Server, before: number): Promise<void> {
  let left: Readonly<Record<string, number>> = {};
  await until("nothing to be open", async () => {
    const value = await page(server);
    const of = (state: string) => value("connections", { interface: "ingress", state });
    left = {
      ...{ fresh: of("fresh"), http1: of("http1"), http2: of("http2"), closing: of("closing") },
      streams: value("http2_streams", { interface: "ingress" }),
      queuedBytes: value("queued_bytes", { interface: "ingress" }),
    };
    const { http1 = Number.NaN, ...others } = left;
    return http1 <= OWN_MAX && Object.values(others).every((count) => count === 0);
  }, 20_000).catch((cause) => {
    throw new Error(`${cause.message}: ${JSON.stringify(left)}`);
  });
  const value = await page(server);
  // The page itself comes over one, and the listing of descriptors takes another.
  expect(value("process_open_fds")).toBeLessThanOrEqual(before + 2);
  expect(value("process_max_fds")).toBeGreaterThan(before);
  expect(value("process_threads")).toBeGreaterThan(1);
  expect(value("process_heap_bytes")).toBeLessThan(HEAP_BYTES_MAX);
}

/** The page counts what is open, by state. Connections of other kinds may be there as well. */
async function isCounted(server: Server, port: Port, { name, state, streams = 0 }: Shape & {
  readonly name: string;
}): Promise<void> {
  await until(`${EACH} to be counted as ${state} (${name})`, async () => {
    const value = await page(server);
    return value("connections", { interface: port, state }) >= EACH &&
      value("http2_streams", { interface: port }) >= EACH * streams;
  });
}

const ENDPOINTS = (["FIN", "RST"] as const).flatMap((how) =>
  ([["node", "h2"], ["node", "h1"], ["deno", "h2"]] as const).map(([runtime, transport]) =>
    [how, runtime, transport] as const
  )
);

test.skipIf(process.platform !== "linux").each(ENDPOINTS)(
  "what connections to an endpoint take comes back after its %s, on %s over %s",
  async (how, runtime, transport) => {
    const endpoint = await startEndpoint(transport);
    const relay = new Relay(new URL(endpoint.url));
    const server = await startServer({ runtime, settings: SETTLED });
    try {
      const url = await relay.listen();
      expect((await register(server, { url, transport })).status).toBe(201);
      expect((await call(server, "Greeter/greet", "a")).status).toBe(200);
      await until("no connection to be left", () => relay.open === 0, 20_000);
      const before = descriptorsOf(server);
      expect((await call(server, "Greeter/greet", "b")).status).toBe(200);
      relay.cut(how);
      await comesBack(server, before);
      await cutAttempts(server, { endpoint, cut: () => relay.cut(how) });
      await until("no connection to be left", () => relay.open === 0, 20_000);
      // `fetch` keeps the connections that the callers had.
      await comesBack(server, before + EACH);
    } finally {
      await server.close();
      await relay.close();
      await endpoint.close();
    }
  },
);

/** Idle connections end soon, and attempts stay on their streams. */
const SETTLED = {
  WORKER__INVOKER__IDLE_CONNECTION_TIMEOUT: "1s",
  WORKER__INVOKER__INACTIVITY_TIMEOUT: "1m",
};

/** Ends the connections under attempts in progress, again and again, until they may complete. */
async function cutAttempts(server: Server, { endpoint, cut }: {
  readonly endpoint: Endpoint;
  readonly cut: () => void;
}): Promise<void> {
  const answers = Array.from({ length: EACH }, (_, i) => call(server, "Greeter/hang", `${i}`));
  const state = endpoint.transport === "h2" ? "http2" : "http1";
  for (let times = 1; times <= 3; times++) {
    for (let i = 0; i < EACH; i++) await endpoint.happens(`${i} hang`, times);
    const value = await page(server);
    expect(value("connections", { interface: "endpoints", state })).toBeGreaterThan(0);
    cut();
  }
  for (let i = 0; i < EACH; i++) endpoint.release(`${i}`);
  for (const answer of answers) expect((await answer).body).toBe("let go");
}
