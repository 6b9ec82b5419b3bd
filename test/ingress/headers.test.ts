import { describe, expect, it } from "vitest";
import { readHead } from "../../src/ingress/headers.ts";
import { fetchReader, type RequestReader } from "../../src/ingress/request_reader.ts";
import { fixture } from "./_fixture.ts";

/** Requests as they stand on the wire: what Fetch itself would join, resolve or refuse. */
function wire(target: string, headers: readonly string[]): RequestReader {
  return { ...fetchReader, target: () => target, headers: () => headers };
}

async function handed(target: string, headers: readonly string[], dialect?: "restate") {
  const { ask, invocations } = fixture({
    reader: wire(target, headers),
    ...(dialect && { dialect }),
  });
  const response = await ask("POST", "/unread");
  return { response, request: invocations.calls[0], headers: invocations.calls[0]?.headers };
}

// docs/spec/ingress.md#headers-and-query
describe("the handler is given", () => {
  it("all headers in their order, with the path first, names in lower case", async () => {
    const { headers } = await handed("/svc/call/Svc/opt?b=%20x&c", [
      ...["Host", "h", "X-Foo", "bar", "x-foo", "bar2", "Authorization", "Bearer tok"],
      ...["Connection", "close", "idempotency-expires", "q", "te", "trailers", "cookie", "a=1"],
      ...["cookie", "b=2", "Transfer-Encoding", "chunked", "traceparent", "00-1", "x-empty", ""],
      ...["X-Forwarded-For", "1.2.3.4"],
    ]);
    expect(headers).toEqual([
      ["x-svc-ingress-path", "/svc/call/Svc/opt?b=%20x&c"],
      ["x-foo", "bar"],
      ["authorization", "Bearer tok"],
      ["te", "trailers"],
      ["cookie", "a=1"],
      ["transfer-encoding", "chunked"],
      ["traceparent", "00-1"],
      ["x-empty", ""],
      ["x-forwarded-for", "1.2.3.4"],
    ]);
  });

  it("the path in the spelling of its deployment, whatever the caller speaks", async () => {
    const { headers } = await handed("/svc/call/Svc/opt", [], "restate");
    expect(headers).toEqual([["x-restate-ingress-path", "/svc/call/Svc/opt"]]);
    const other = await handed("/restate/call/Svc/opt", []);
    expect(other.headers).toEqual([["x-svc-ingress-path", "/restate/call/Svc/opt"]]);
  });

  it("the path without the slashes around it", async () => {
    const { headers } = await handed("//svc/call/Svc/opt//?a=/b/", []);
    expect(headers).toEqual([["x-svc-ingress-path", "/svc/call/Svc/opt?a=/b/"]]);
  });

  it("no ingress path but ours, and no idempotency key", async () => {
    const { headers, request } = await handed("/Svc/opt", [
      ...["x-svc-ingress-path", "/forged", "x-restate-ingress-path", "/forged"],
      ...["Idempotency-Key", "one", "idempotency-key", "two"],
    ]);
    expect(headers).toEqual([["x-svc-ingress-path", "/Svc/opt"]]);
    expect(request?.idempotencyKey).toBe("one");
  });

  it("none of what HTTP/2 writes among its headers", async () => {
    const { headers } = await handed("/Svc/opt", [":method", "POST", ":path", "/", "a", "b"]);
    expect(headers).toEqual([["x-svc-ingress-path", "/Svc/opt"], ["a", "b"]]);
  });

  it("no session of the UI, which browsers send to all ports of a host", async () => {
    const session = "__Host-perdure-session-9070=abc.def";
    const cookies = async (...values: string[]) => {
      const sent = values.flatMap((value) => ["Cookie", value]);
      const { headers } = await handed("/Svc/opt", [...sent, "a", "b"]);
      return headers?.filter(([name]) => name === "cookie").map(([, value]) => value);
    };
    expect(await cookies(`a=1; ${session}; b=2`)).toEqual(["a=1; b=2"]);
    expect(await cookies(session)).toEqual([]);
    expect(await cookies(session, "a=1")).toEqual(["a=1"]);
    expect(await cookies("a=perdure-session")).toEqual(["a=perdure-session"]);
  });

  it("the first content type, if there are two", async () => {
    const types = ["content-type", "application/json", "content-type", "text/plain"];
    expect((await handed("/Svc/opt", types)).response.status).toBe(200);
    const reversed = ["content-type", "text/plain", "content-type", "application/json"];
    expect((await handed("/Svc/opt", reversed)).response.status).toBe(400);
  });

  it("values with tabs, but no others that are not visible ASCII", async () => {
    expect((await handed("/Svc/opt", ["x-tab", "a\tb"])).response.status).toBe(200);
    expect((await handed("/Svc/opt", ["x-bad", "\x7f"])).response.status).toBe(400);
    // These never reach the handler.
    expect((await handed("/Svc/opt", ["connection", "\xe9"])).response.status).toBe(200);
  });
});

describe("a declared length", () => {
  it.each([["5", 5], ["0", 0], ["abc", undefined], ["-1", undefined], ["1e3", undefined]])(
    "%j is %s",
    (text, length) => {
      expect(readHead(["Content-Length", text]).contentLength).toBe(length);
    },
  );
});

// docs/spec/ingress.md#keys
describe("an object key", () => {
  it.each([
    ["a%20b", "a b"],
    ["a+b", "a+b"],
    ["a%2Fb", "a/b"],
    ["%C3%A9", "é"],
    ["\xc3\xa9", "é"],
    ["%c3\xa9", "é"],
    ["%00", "\0"],
    ["%zz", "%zz"],
    ["%", "%"],
    ["%4", "%4"],
    ["..", ".."],
    ["", ""],
    ["%EF%BB%BFx", "\ufeffx"],
    ["x".repeat(60_000), "x".repeat(60_000)],
  ])("%j is %j", async (raw, key) => {
    const { request } = await handed(`/svc/call/Obj/${raw}/get?q`, []);
    expect(request?.target.key).toBe(key);
  });

  it.each(["%FF", "a%C3", "\xe9"])("%j is refused", async (raw) => {
    const { response } = await handed(`/svc/call/Obj/${raw}/get`, []);
    expect(response.status).toBe(400);
  });

  it("ends where the query begins", async () => {
    const { response } = await handed("/svc/call/Obj/a?b/get", []);
    expect(response.status).toBe(400);
  });
});

describe("the target", () => {
  it("is taken from an absolute form", async () => {
    const { request } = await handed("http://foo.bar/svc/call/Svc/opt?x", []);
    expect(request?.headers[0]).toEqual(["x-svc-ingress-path", "/svc/call/Svc/opt?x"]);
    expect((await handed("http://foo.bar", [])).response.status).toBe(400);
  });

  it("ends where a fragment begins", async () => {
    const { request } = await handed("/svc/call/Svc/opt?x#y?z", []);
    expect(request?.headers[0]).toEqual(["x-svc-ingress-path", "/svc/call/Svc/opt?x"]);
    expect((await handed("/svc/call/Svc/opt#y", [])).response.status).toBe(200);
  });

  it("is told to the handler as text", async () => {
    const { headers } = await handed("/svc/call/Obj/\xc3\xa9/get?q=\xc3\xa9", []);
    expect(headers?.[0]).toEqual(["x-svc-ingress-path", "/svc/call/Obj/é/get?q=é"]);
  });

  it("of any Fetch request is read right, also where a platform decodes it", () => {
    const url = (url: string) => fetchReader.target({ url } as Request);
    expect(url("http://h:1/a/b?c=1")).toBe("/a/b?c=1");
    expect(url("http://h/svc/call/Obj/../get")).toBe("/svc/call/Obj/../get");
    expect(url("http://h/é")).toBe("/\xc3\xa9");
    expect(url("http://h")).toBe("/");
  });
});
