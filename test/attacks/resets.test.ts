import { Buffer } from "node:buffer";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call } from "../support/client.ts";
import { until } from "../support/child.ts";
import { parseMetrics, valueOf } from "../observe/_parse.ts";
import { END_HEADERS, END_STREAM, frame, header, PREFACE, request, TYPE } from "./_frames.ts";
import { SCALE, tell, TEST_MS } from "./_scale.ts";
import { expectWell, portOf, startTarget, type Target } from "./_target.ts";

/** Below what Node 20 itself ends a connection at. */
const LIMIT = 100;
const CONNECTIONS = 20 * SCALE;
const ENHANCE_YOUR_CALM = 0xb;

let target: Target;
beforeAll(async () => {
  target = await startTarget({
    INGRESS__STREAM_RESETS_LIMIT: String(LIMIT),
    ADMIN__STREAM_RESETS_LIMIT: String(LIMIT),
  });
}, 60_000);
afterAll(async () => await target?.close());

const whole = END_HEADERS | END_STREAM;
const stream = (i: number) => 1 + 2 * i;
const code = (number: number) => Buffer.from([0, 0, 0, number]);
const post = request("POST", "/svc/call/Greeter/greet");
/**
 * The admin API answers most requests while it reads the reset, and a stream without an error whose answer
 * has ended is not counted: this one waits for a body.
 */
const query = Buffer.concat([
  request("POST", "/query", "127.0.0.1"),
  header("content-type", "application/json"),
]);

type Kind = (i: number, head?: Buffer) => Buffer;

/** A stream that its client resets. */
const KINDS: Readonly<Record<string, Kind>> = {
  "cancels them": (i) =>
    Buffer.concat([
      frame(TYPE.headers, whole, stream(i), request("GET", "/svc/health")),
      frame(TYPE.reset, 0, stream(i), code(8)),
    ]),
  "resets them without an error": (i, head = post) =>
    Buffer.concat([
      frame(TYPE.headers, END_HEADERS, stream(i), head),
      frame(TYPE.reset, 0, stream(i), code(0)),
    ]),
};
/** Has the server reset a stream. Node ends the connection by itself. */
const provoke = (i: number) =>
  Buffer.concat([
    frame(TYPE.headers, END_HEADERS, stream(i), post),
    frame(TYPE.windowUpdate, 0, stream(i), Buffer.alloc(4)),
  ]);

/** The codes of the GOAWAY frames in what a server sent. */
function goaways(bytes: Buffer): number[] {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= bytes.length;) {
    const length = bytes.readUIntBE(at, 3);
    if (bytes[at + 3] === 7 && at + 17 <= bytes.length) codes.push(bytes.readUInt32BE(at + 13));
    at += 9 + length;
  }
  return codes;
}

/** Opens and resets streams until the server closes the connection, or all are sent. */
async function flood(url: string, kind: (i: number) => Buffer, streams: number) {
  const socket = connect(portOf(url), "127.0.0.1").on("error", () => {});
  const heard: Buffer[] = [];
  let isClosed = false;
  socket.on("data", (chunk) => heard.push(chunk)).once("close", () => isClosed = true);
  socket.write(PREFACE);
  let sent = 0;
  for (; sent < streams && !isClosed; sent++) {
    socket.write(kind(sent));
    if (sent % 10 !== 9) continue;
    // The server has to see them one after the other, as in a connection of some length.
    const mark = Buffer.from(String(sent).padStart(8, "0"));
    socket.write(frame(TYPE.ping, 0, 0, mark));
    const isSeen = () => isClosed || Buffer.concat(heard).includes(mark);
    await until("the answer to a ping", isSeen);
  }
  return { socket, sent, isClosed: () => isClosed, goaways: () => goaways(Buffer.concat(heard)) };
}

async function metrics() {
  const page = await fetch(`${target.server.admin}/metrics`);
  const families = parseMetrics(await page.text());
  return (name: string, labels: Readonly<Record<string, string>> = {}) =>
    valueOf(families, `perdure_${name}`, labels) ?? 0;
}

const closings = () =>
  target.server.said().split("\n").filter((line) => line.includes("resets too many streams"));

describe.each(Object.entries(KINDS))("a client that opens streams and %s", (_, kind) => {
  test("loses its connection at the limit, which is logged, on both ports", async () => {
    const { ingress, admin } = target.server;
    for (const [url, head] of [[ingress, post], [admin, query]] as const) {
      const before = closings().length;
      const one = await flood(url, (i) => kind(i, head), 10 * LIMIT);
      await until("the connection to be closed", one.isClosed);
      // A system that has got more than was read may drop what the client has not read either.
      const codes = one.goaways();
      if (codes.length > 0) expect(codes).toContain(ENHANCE_YOUR_CALM);
      await until("the log", () => closings().length > before);
      expect(closings().at(-1)).toContain(`"limit":${LIMIT}`);
    }
  }, TEST_MS);

  test("keeps it below the limit", async () => {
    const one = await flood(target.server.ingress, kind, LIMIT - 20);
    const ping = frame(TYPE.ping, 0, 0, Buffer.from("12345678"));
    let isAnswered = false;
    one.socket.on("data", (chunk) => isAnswered ||= chunk.includes("12345678"));
    one.socket.write(ping);
    await until("the answer to a ping", () => isAnswered || one.isClosed());
    expect([isAnswered, one.goaways()]).toEqual([true, []]);
    one.socket.destroy();
  }, TEST_MS);
});

test("a client that has the server reset its streams loses its connection", async () => {
  for (const url of [target.server.ingress, target.server.admin]) {
    const one = await flood(url, provoke, 100 * LIMIT);
    await until("the connection to be closed", one.isClosed);
  }
}, TEST_MS);

/** Calls handlers, and asks on a connection of HTTP/2, until `isOver`. Resolves to the number of answers. */
async function askAll(session: ClientHttp2Session, isOver: () => boolean): Promise<number> {
  let answers = 0;
  for (; !isOver(); answers++) {
    expect((await call(target.server, "Greeter/greet", "you")).status).toBe(200);
    const health = session.request({ ":path": "/svc/health" });
    const status = await new Promise((resolve, reject) =>
      health.on("response", (head) => resolve(head[":status"])).on("error", reject).resume()
    );
    expect(status).toBe(200);
  }
  return answers;
}

test("many of them keep nobody else waiting, and leave nothing behind", async () => {
  const { server } = target;
  await expectWell(target);
  const before = (await metrics())("process_resident_memory_bytes");
  let isOver = false;
  const session = connectHttp2(server.ingress);
  const others = Array.from({ length: 2 }, () => askAll(session, () => isOver));
  const kinds = [...Object.values(KINDS), provoke];
  const floods = await Promise.all(
    Array.from(
      { length: CONNECTIONS },
      (_, n) => flood(server.ingress, kinds[n % kinds.length]!, 20 * LIMIT),
    ),
  );
  await until("all to be closed", () => floods.every((one) => one.isClosed()));
  isOver = true;
  const answers = await Promise.all(others);
  tell({ streams: floods.reduce((sum, { sent }) => sum + sent, 0), answers });
  expect(Math.min(...answers)).toBeGreaterThan(0);
  session.close();
  await until("streams and connections to be forgotten", async () => {
    const value = await metrics();
    const ingress = { interface: "ingress" };
    return value("connections", { ...ingress, state: "http2" }) === 0 &&
      value("http2_streams", ingress) === 0;
  });
  await expectWell(target);
  const after = (await metrics())("process_resident_memory_bytes");
  expect(after - before).toBeLessThan(100 * 1024 * 1024);
}, TEST_MS);
