import { describe, expect, it } from "vitest";
import { Failure } from "../../src/errors.ts";
import { parseInvocationId } from "../../src/model/id.ts";
import type { Result } from "../../src/model/journal.ts";
import { fixture, NOW, told } from "./_fixture.ts";

const asJson = { "content-type": "application/json" };
const bytes = (text: string) => new TextEncoder().encode(text);
const value = (text: string): Result => ({ kind: "value", value: bytes(text) });

function names(response: Response): string[] {
  return [...response.headers.keys()];
}

describe("a call", () => {
  it("is answered with what the handler returned", async () => {
    const { ask, invocations } = fixture();
    const response = await ask("POST", "/svc/call/Svc/opt", { headers: asJson, body: '{"a":1}' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('"ok"');
    expect(names(response)).toEqual(["content-type", "x-svc-id"]);
    expect(response.headers.get("content-type")).toBe("application/json");
    const [request] = invocations.calls;
    expect(response.headers.get("x-svc-id")).toBe(request?.id);
    expect(request).toEqual({
      id: expect.any(String),
      fresh: true,
      target: { service: "Svc", handler: "opt", type: "service", access: "none" },
      headers: [["x-svc-ingress-path", "/svc/call/Svc/opt"], ["content-type", "application/json"]],
      value: bytes('{"a":1}'),
      origin: { by: "ingress" },
      retention: { resultMs: 2500, journalMs: 2500 },
    });
    parseInvocationId(request?.id ?? "");
  });

  it("reaches objects and workflows by key", async () => {
    const { ask, invocations } = fixture();
    await ask("POST", "/svc/call/Obj/a%20b/set");
    await ask("POST", "/svc/call/Wf/w/peek");
    expect(invocations.calls.map(({ target }) => target)).toEqual([
      { service: "Obj", handler: "set", key: "a b", type: "virtual_object", access: "exclusive" },
      { service: "Wf", handler: "peek", key: "w", type: "workflow", access: "shared" },
    ]);
  });

  it.each([
    ["plain", '"x"', "text/plain"],
    ["plain", "", "text/plain"],
    ["untyped", "x", null],
    ["bare", "{}", "application/json"],
    ["bare", "", null],
    ["opt", "null", "application/json"],
    ["opt", "", null],
  ])("of %s that returns %j has content type %s", async (handler, text, type) => {
    const { ask, invocations } = fixture();
    invocations.result = value(text);
    const response = await ask("POST", `/svc/call/Svc/${handler}`);
    expect(response.headers.get("content-type")).toBe(type);
    expect(await response.text()).toBe(text);
  });

  it("passes bytes both ways unchanged", async () => {
    const { ask, invocations } = fixture();
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    invocations.result = { kind: "value", value: all };
    const headers = { "content-type": "image/png" };
    const response = await ask("POST", "/svc/call/Svc/any", { headers, body: all });
    expect(invocations.calls[0]?.value).toEqual(all);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(all);
  });

  it("is answered in the dialect of its path, and in both on a legacy path", async () => {
    const { ask } = fixture();
    const own = await ask("POST", "/svc/call/Svc/opt");
    expect(names(own)).toEqual(["content-type", "x-svc-id"]);
    const alias = await ask("POST", "/restate/call/Svc/opt");
    expect(names(alias)).toEqual(["content-type", "x-restate-id"]);
    const legacy = await ask("POST", "/Svc/opt");
    expect(names(legacy)).toEqual(["content-type", "x-restate-id", "x-svc-id"]);
    expect(legacy.headers.get("x-svc-id")).toBe(legacy.headers.get("x-restate-id"));
    expect(names(await ask("POST", "/svc/call/Svc/nope"))).toContain("x-svc-error-source");
    expect(names(await ask("POST", "/restate/call/Svc/nope"))).toContain("x-restate-error-source");
    const refused = names(await ask("POST", "/Svc/nope"));
    expect(refused).toEqual(["content-type", "x-restate-error-source", "x-svc-error-source"]);
  });

  it("answered from a stored completion tells when that expires", async () => {
    const { ask, invocations } = fixture();
    invocations.expiresAt = Date.parse("2026-11-21T15:35:59.772Z");
    const headers = { "idempotency-key": "k" };
    const ok = await ask("POST", "/svc/call/Svc/opt", { headers });
    expect(ok.headers.get("idempotency-expires")).toBe("2026-11-21T15:35:59.772+00:00");
    invocations.result = { kind: "failure", failure: { code: 418, message: "end" } };
    const failed = await ask("POST", "/svc/call/Svc/opt", { headers });
    expect(failed.headers.get("idempotency-expires")).toBe("2026-11-21T15:35:59.772+00:00");
  });

  it("is forgotten when its caller leaves", async () => {
    const { serve, invocations } = fixture();
    const gone = new AbortController();
    const { signal } = gone;
    await serve(new Request("http://x/svc/call/Svc/opt", { method: "POST", signal }));
    gone.abort();
    expect(invocations.left).toBe(1);
  });

  it("whose caller went away is not an error", async () => {
    const { ask, invocations, logged } = fixture();
    invocations.error = new DOMException("gone", "AbortError");
    expect((await ask("POST", "/svc/call/Svc/opt")).status).toBe(499);
    expect(logged).toEqual([]);
  });
});

describe("an invocation that failed", () => {
  // docs/spec/ingress.md#failure-codes-as-statuses. Fetch has no status above 599; node.test.ts
  // shows them where they exist.
  it.each<readonly [number, number]>([
    [0, 500],
    [99, 500],
    [100, 500],
    [101, 500],
    [199, 500],
    [1000, 500],
    [65_535, 500],
    ...[200, 204, 205, 300, 304, 400, 404, 409, 418, 422, 429, 470, 499, 500, 503, 599]
      .map((code) => [code, code] as const),
    [600, 500],
    [999, 500],
  ])("with code %d is answered %d", async (code, status) => {
    const { ask, invocations } = fixture();
    invocations.result = { kind: "failure", failure: { code, message: "boom" } };
    const response = await ask("POST", "/svc/call/Svc/opt");
    expect(response.status).toBe(status);
    expect(response.headers.get("x-svc-error-source")).toBe("invocation");
    expect(response.headers.get("x-svc-id")).toBe(invocations.calls[0]?.id);
    const isBare = [204, 205, 304].includes(status);
    const body = JSON.stringify({ code, message: "boom", source: "invocation" });
    expect(await response.text()).toBe(isBare ? "" : body);
  });

  it("tells its metadata and its stack trace", async () => {
    const { ask, invocations } = fixture();
    const metadata = [["k", "v"], ["__proto__", "w"]] as const;
    invocations.result = {
      kind: "failure",
      failure: { code: 418, message: "end", metadata, stacktrace: "at x" },
    };
    const response = await ask("POST", "/restate/call/Svc/opt");
    expect(response.headers.get("x-restate-error-source")).toBe("invocation");
    expect(await response.text()).toBe(
      '{"code":418,"message":"end","stacktrace":"at x","metadata":{"k":"v","__proto__":"w"},' +
        '"source":"invocation"}',
    );
  });
});

describe("ids and retention", () => {
  it("a request without a key gets a new id each time", async () => {
    const { ask, invocations } = fixture();
    await ask("POST", "/svc/call/Svc/opt");
    await ask("POST", "/svc/call/Svc/opt");
    const [one, two] = invocations.calls;
    expect(one?.id).not.toBe(two?.id);
    expect([one?.fresh, two?.fresh]).toEqual([true, true]);
  });

  it("an idempotency key gives the same id by any path, and keeps the result", async () => {
    const { ask, invocations } = fixture();
    const headers = { "idempotency-key": "k" };
    await ask("POST", "/svc/call/Svc/opt", { headers });
    await ask("GET", "/Svc/opt", { headers });
    await ask("POST", "/restate/call/Svc/opt", { headers });
    expect(new Set(invocations.calls.map(({ id }) => id)).size).toBe(1);
    for (const { fresh, idempotencyKey, retention } of invocations.calls) {
      expect({ fresh, idempotencyKey }).toEqual({ fresh: false, idempotencyKey: "k" });
      expect(retention).toEqual({ resultMs: 2000, journalMs: 2000 });
    }
    await ask("POST", "/svc/call/Svc/any", { headers: { ...headers, ...asJson } });
    expect(invocations.calls[3]?.id).not.toBe(invocations.calls[0]?.id);
  });

  it("the empty idempotency key is a key", async () => {
    const { ask, invocations } = fixture();
    await ask("POST", "/svc/call/Svc/opt", { headers: { "idempotency-key": "" } });
    expect(invocations.calls[0]).toMatchObject({ fresh: false, idempotencyKey: "" });
  });

  it("a workflow run has the same id each time and its own retention", async () => {
    const { ask, invocations } = fixture();
    await ask("POST", "/svc/call/Wf/w/run");
    await ask("POST", "/svc/send/Wf/w/run");
    const [called, sent] = [invocations.calls[0], invocations.sends[0]];
    expect(called?.id).toBe(sent?.id);
    expect(called?.fresh).toBe(false);
    expect(called?.retention).toEqual({ resultMs: 3000, journalMs: 2500 });
    const headers = { "idempotency-key": "k" };
    await ask("POST", "/svc/call/Wf/w/peek", { headers });
    expect(invocations.calls[1]?.retention).toEqual({ resultMs: 2000, journalMs: 2000 });
  });

  it("a second submission of a workflow is the invocation's failure, with the first id", async () => {
    const { ask, invocations } = fixture();
    invocations.result = {
      kind: "failure",
      failure: { code: 409, message: "Previously accepted" },
    };
    const response = await ask("POST", "/svc/call/Wf/w/run");
    expect(response.headers.get("x-svc-id")).toBe(invocations.calls[0]?.id);
    expect(await told(response)).toEqual([
      409,
      { code: 409, message: "Previously accepted", source: "invocation" },
    ]);
  });
});

describe("a send", () => {
  it("is answered as soon as it is accepted", async () => {
    const { ask, invocations } = fixture();
    const response = await ask("POST", "/svc/send/Svc/opt", { headers: asJson, body: "1" });
    const id = invocations.sends[0]?.id;
    expect(response.headers.get("x-svc-id")).toBe(id);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.status).toBe(202);
    expect(await response.text()).toBe(`{"invocationId":"${id}","status":"Accepted"}`);
    expect(invocations.sends[0]).not.toHaveProperty("startAt");
  });

  it.each([
    ["/svc/send/Svc/opt?delay=1s", 1000],
    ["/svc/send/Svc/opt?DELAY=PT1S&delay=5s", 1000],
    ["/svc/send/Svc/opt?x=1&%64elay=1h+30m", 5_400_000],
    ["/Svc/opt/send?delay=100ms", 100],
    ["/restate/send/Wf/w/run?delay=1s", 1000],
    ["/svc/send/Svc/opt?delay=0", 0],
  ])("%s starts later", async (path, delayMs) => {
    const { ask, invocations } = fixture();
    const response = await ask("POST", path);
    expect(invocations.sends[0]?.startAt).toBe(NOW + delayMs);
    const time = new Date(NOW + delayMs).toISOString().replace("Z", "000000Z");
    const invocationId = invocations.sends[0]?.id;
    expect(await response.text()).toBe(
      JSON.stringify({ invocationId, executionTime: time, status: "Accepted" }),
    );
  });

  it("a repeat is told the first one's id and start", async () => {
    const { ask, invocations } = fixture();
    const startAt = Date.parse("2026-11-20T15:33:27.191Z");
    invocations.accepted = { id: "inv_1first", status: "previouslyAccepted", startAt };
    const path = "/svc/send/Svc/opt?delay=9d";
    const repeated = await ask("POST", path, { headers: { "idempotency-key": "k" } });
    expect(await told(repeated)).toEqual([202, {
      invocationId: "inv_1first",
      executionTime: "2026-11-20T15:33:27.191000000Z",
      status: "PreviouslyAccepted",
    }]);
    expect(repeated.headers.get("x-svc-id")).toBe("inv_1first");
    invocations.accepted = { id: "inv_1first", status: "previouslyAccepted" };
    expect(await told(await ask("POST", path))).toEqual([202, {
      invocationId: "inv_1first",
      status: "PreviouslyAccepted",
    }]);
  });
});

describe("what partitions throw", () => {
  it("a failure is an error of ingress with its status", async () => {
    const { ask, invocations } = fixture();
    invocations.error = Failure.plain(503, "the partition is moving");
    for (const verb of ["call", "send"]) {
      const response = await ask("POST", `/svc/${verb}/Svc/opt`);
      expect(response.headers.get("x-svc-error-source")).toBe("ingress");
      expect(response.headers.has("x-svc-id")).toBe(false);
      expect(await told(response)).toEqual([
        503,
        { code: 503, message: "the partition is moving", source: "ingress" },
      ]);
    }
  });

  it("anything else is an internal error that only the log explains", async () => {
    const { ask, invocations, logged } = fixture();
    invocations.error = new Error("secret");
    expect(await told(await ask("POST", "/svc/call/Svc/opt"))).toEqual([
      500,
      { code: 500, message: "internal error", source: "ingress" },
    ]);
    expect(logged).toEqual(["error Cannot answer an ingress request"]);
  });
});
