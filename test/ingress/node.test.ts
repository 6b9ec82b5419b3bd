import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bridgeTo, installBridge, nodeReader } from "../../adapters/node/bridge.ts";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import type { Log } from "../../src/ports.ts";
import { type Fixture, fixture } from "./_fixture.ts";

// What only a real connection shows: raw targets, repeated headers, framing, odd statuses.
let served: Fixture;
let server: Server;
let logged: string[] = [];
let answer: (request: Request) => Response | Promise<Response>;
/** Other tests in this process are without the bridge. */
const plainResponse = globalThis.Response;

beforeAll(async () => {
  installBridge();
  const log: Log = (level, message) => void logged.push(`${level} ${message}`);
  server = createServer(bridgeTo({ handler: (request) => answer(request), log }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  server.close();
  globalThis.Response = plainResponse;
});
beforeEach(() => {
  served = fixture({ reader: nodeReader, bodyBytesMax: 1000 });
  logged = [];
  answer = (request) => served.serve(request);
});

interface Heard {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Sends these bytes, one per character, and reads until the server closes. */
function say(lines: readonly string[], body = ""): Promise<Heard> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1").on("error", reject);
    const chunks: Uint8Array[] = [];
    socket.on("data", (chunk: Uint8Array) => void chunks.push(chunk));
    socket.on("close", () => {
      const [head = "", rest = ""] = split(Buffer.concat(chunks).toString("latin1"));
      const [first = "", ...headers] = head.split("\r\n");
      resolve({ status: Number(first.split(" ")[1]), headers, body: rest });
    });
    const [request, ...headers] = lines;
    const head = [`${request} HTTP/1.1`, "host: x", "connection: close", ...headers, "", body];
    socket.write(Buffer.from(head.join("\r\n"), "latin1"));
  });
}

function split(text: string): [string, string] {
  const end = text.indexOf("\r\n\r\n");
  return [text.slice(0, end), text.slice(end + 4)];
}

const asJson = "content-type: application/json";

describe("over a connection", () => {
  it("a call gets there and back", async () => {
    const { status, headers, body } = await say(
      ["POST /svc/call/Svc/opt", asJson, "content-length: 7"],
      '{"a":1}',
    );
    const [request] = served.invocations.calls;
    expect(status).toBe(200);
    expect(body).toBe('"ok"');
    expect(headers).toContain(`x-svc-id: ${request?.id}`);
    expect(headers).toContain("content-length: 4");
    expect(new TextDecoder().decode(request?.value)).toBe('{"a":1}');
  });

  it("an empty result has a length, and no content type", async () => {
    served.invocations.result = { kind: "value", value: new Uint8Array(0) };
    const { status, headers, body } = await say(["GET /svc/call/Svc/opt"]);
    expect([status, body]).toEqual([200, ""]);
    expect(headers).toContain("content-length: 0");
    expect(headers.some((line) => line.startsWith("content-type"))).toBe(false);
  });

  it.each([1, 256, 4096, 4097, 100_000])("a result of %i bytes arrives as it is", async (size) => {
    const value = Uint8Array.from({ length: size }, (_, i) => i % 256);
    served.invocations.result = { kind: "value", value };
    const { headers, body } = await say(["GET /svc/call/Svc/opt"]);
    expect(headers).toContain(`content-length: ${size}`);
    expect(Buffer.compare(Buffer.from(body, "latin1"), value)).toBe(0);
  });

  it("an answer that cannot be sent, or is none, is a 500 and logged", async () => {
    answer = () => new Response("x", { headers: [["x-bad", "\n"]] });
    expect((await say(["GET /"])).status).toBe(500);
    answer = () => Promise.reject(new Error("broken"));
    expect(await say(["GET /"])).toMatchObject({ status: 500, body: "internal server error" });
    answer = () => {
      throw new Error("broken");
    };
    expect((await say(["GET /"])).status).toBe(500);
    expect(logged).toEqual([
      "error Cannot send an answer",
      "error A request handler failed",
      "error A request handler failed",
    ]);
  });

  it("a body that is a stream arrives, and one that fails ends the connection", async () => {
    const text = (failure?: Error) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("some"));
          if (!failure) return controller.close();
          setTimeout(() => controller.error(failure));
        },
      });
    answer = () => new Response(text());
    expect((await say(["GET /"])).body).toContain("some");
    answer = () => new Response(text(new Error("broken")));
    expect((await say(["GET /"])).body).not.toContain("\r\n0\r\n");
  });

  it("keys and repeated headers arrive as they were sent", async () => {
    await say(["GET /svc/call/Obj/../get", "X-Foo: bar", "x-foo: bar2"]);
    await say(["GET http://elsewhere/svc/call/Obj/%zz/get"]);
    expect(served.invocations.calls.map(({ target }) => target.key)).toEqual(["..", "%zz"]);
    expect(served.invocations.calls.map(({ headers }) => headers)).toEqual([
      [["x-svc-ingress-path", "/svc/call/Obj/../get"], ["x-foo", "bar"]],
      [["x-svc-ingress-path", "/svc/call/Obj/%zz/get"]],
    ]);
  });

  it("a body may have any framing, even with GET", async () => {
    const chunked = "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    await say(["POST /svc/call/Svc/opt", asJson, "transfer-encoding: chunked"], chunked);
    await say(["GET /svc/call/Svc/opt", asJson, "content-length: 5"], "hello");
    expect(served.invocations.calls.map(({ value }) => new TextDecoder().decode(value))).toEqual([
      "hello world",
      "hello",
    ]);
  });

  it("a body above the limit is refused, declared or not", async () => {
    const big = "x".repeat(1001);
    const declared = await say(["POST /svc/call/Svc/opt", asJson, "content-length: 1001"], big);
    expect(declared.status).toBe(413);
    expect(declared.body).toContain('"message":"length limit exceeded');
    const chunked = await say(
      ["POST /svc/call/Svc/opt", asJson, "transfer-encoding: chunked"],
      `3e9\r\n${big}\r\n0\r\n\r\n`,
    );
    expect(chunked.status).toBe(413);
    expect(chunked.body).toContain('"message":"cannot read body: LengthLimitError');
    expect(served.invocations.calls).toEqual([]);
  });

  it.each([600, 700, 999])("a handler's code %d is the status", async (code) => {
    served.invocations.result = { kind: "failure", failure: { code, message: "boom" } };
    const { status, body } = await say(["GET /svc/call/Svc/opt"]);
    expect([status, body]).toEqual([
      code,
      `{"code":${code},"message":"boom","source":"invocation"}`,
    ]);
  });

  it.each([204, 205, 304])("a handler's code %d has no body", async (code) => {
    served.invocations.result = { kind: "failure", failure: { code, message: "boom" } };
    const { status, headers, body } = await say(["GET /svc/call/Svc/opt"]);
    expect(status).toBe(code);
    expect(body).not.toContain("boom");
    expect(headers).toContain("x-svc-error-source: invocation");
  });

  it("a result that is not ready has a status without a name", async () => {
    served.invocations.existing = "notReady";
    const { status, body } = await say([`GET /svc/output/inv_1${"0".repeat(33)}`]);
    expect([status, body]).toEqual([470, '{"message":"not ready"}']);
  });

  it("an awakeable is taken with an empty answer", async () => {
    const id = printAwakeableId(`inv_1${"0".repeat(33)}`, 17);
    const { status, headers, body } = await say(
      [`POST /svc/awakeables/${id}/reject`, "content-length: 3"],
      "why",
    );
    expect([status, body]).toEqual([202, ""]);
    expect(headers).toContain("content-length: 0");
    expect(headers.some((line) => line.startsWith("x-"))).toBe(false);
    expect(served.invocations.signals[0]?.result).toEqual({
      kind: "failure",
      failure: { code: 500, message: "why" },
    });
  });

  it("an attached caller that hangs up is forgotten", async () => {
    served.invocations.existing = "notReady";
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    socket.write(`GET /svc/attach/inv_1${"0".repeat(33)} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => served.invocations.attaches).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => served.invocations.left).toBe(1);
  });

  // docs/spec/ingress.md#idempotency
  it.each([
    [["Idempotency-Key:"], ""],
    [["Idempotency-Key: one", "idempotency-key: two"], "one"],
    [["Idempotency-Key:", "idempotency-key: two"], ""],
  ])("of %j the first is the key", async (lines, key) => {
    expect((await say(["POST /svc/call/Svc/opt", ...lines])).status).toBe(200);
    expect(served.invocations.calls[0]).toMatchObject({ idempotencyKey: key, fresh: false });
  });

  it.each(["\xe9", "\xc3\xa9"])("the idempotency key %j is refused", async (key) => {
    const { status, body } = await say(["POST /svc/call/Svc/opt", `idempotency-key: ${key}`]);
    expect(status).toBe(400);
    expect(body).toContain("bad header idempotency-key");
    expect(served.invocations.calls).toEqual([]);
  });

  it("HEAD is refused without a body", async () => {
    const { status, headers, body } = await say(["HEAD /svc/call/Svc/opt"]);
    expect([status, body]).toEqual([405, ""]);
    expect(headers).toContain("x-svc-error-source: ingress");
  });

  it("a preflight is answered whatever its target", async () => {
    const { status, headers } = await say(["OPTIONS *", "origin: https://page.example"]);
    expect(status).toBe(200);
    expect(headers).toContain("access-control-allow-origin: https://page.example");
  });
});
