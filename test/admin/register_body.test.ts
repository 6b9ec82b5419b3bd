import { describe, expect, test } from "vitest";
import { BODY_BYTES_MAX, discovered, refusal, setup } from "./_setup.ts";

const ARN = "arn:aws:lambda:eu-central-1:123456789012:function:greeter:1";
const uri = "http://localhost:9080/";

describe("the body of a registration", () => {
  test("must be announced as JSON", async () => {
    const { post, send, endpoints } = await setup();
    endpoints.set(uri, discovered([]));
    for (const type of ["text/plain", "application/jsonx", "application/xml", "json"]) {
      const { status, json } = await post("/deployments", { uri }, { "content-type": type });
      expect(status).toBe(415);
      expect(json).toEqual(refusal(null, expect.any(String)));
    }
    expect((await send("POST", "/deployments")).status).toBe(415);
    for (
      const type of [
        "Application/JSON; charset=utf-8",
        "application/vnd.x+json",
        "application/json",
      ]
    ) {
      const { status } = await post("/deployments", { uri }, { "content-type": type });
      expect(status).toBeLessThan(300);
    }
  });

  test("must be JSON", async () => {
    const { post, send } = await setup();
    for (const body of ['{"uri":', '{"uri":"a"} x', "{'uri':1}", "nope", " "]) {
      const { status, json } = await post("/deployments", body);
      expect(status).toBe(400);
      expect(json).toEqual(refusal(null, expect.stringMatching(/as JSON: ./)));
    }
    const headers = { "content-type": "application/json" };
    const empty = await send("POST", "/deployments", { headers });
    expect(empty.json).toEqual(
      refusal(null, "Cannot parse the request body as JSON: the body is empty"),
    );
    const bytes = await send("POST", "/deployments", {
      headers,
      body: new Uint8Array([34, 255, 34]),
    });
    expect(bytes).toMatchObject({
      status: 400,
      json: refusal(null, expect.stringContaining("UTF-8")),
    });
  });

  test.each([
    [[], "expected an object"],
    [null, "expected an object"],
    [5, "expected an object"],
    ['"x"', "expected an object"],
    [{}, "at 'uri', expected a string"],
    [{ uri: null }, "at 'uri', expected a string"],
    [{ uri, additional_headers: { a: { env: 1 } } }, `an object such as {"env": "NAME"}`],
    [{ uri, additional_headers: { a: { env: "B", c: 1 } } }, `an object such as {"env": "NAME"}`],
    [{ uri, additional_headers: { a: null } }, `an object such as {"env": "NAME"}`],
    [{ uri, additional_headers: { a: { env: "a-b" } } }, "expected a variable's name"],
    [{ uri: 5 }, "at 'uri', expected a string"],
    [{ uri: { toString: 1 } }, "at 'uri', expected a string"],
    [{ uri: "" }, "at 'uri', '' is not a URL"],
    [{ uri: "http://" }, "at 'uri', 'http://' is not a URL"],
    [{ uri: "http://localhost:31080 /" }, "is not a URL"],
    [{ uri: "http://localhost:99999/" }, "is not a URL"],
    [{ uri: "http:\\\\localhost" }, "is not a URL"],
    [{ uri, force: "yes" }, "at 'force', expected a boolean"],
    [{ uri, use_http_11: 1 }, "at 'use_http_11', expected a boolean"],
    [{ uri, breaking: {} }, "at 'breaking', expected a boolean"],
    [{ uri, dry_run: "true" }, "at 'dry_run', expected a boolean"],
    [{ uri, metadata: { a: 1 } }, "at 'metadata.a', expected a string"],
    [{ uri, metadata: ["a"] }, "at 'metadata', expected an object"],
    [{ uri, additional_headers: { ab: 1 } }, "at 'additional_headers.ab', expected a string"],
    [{ uri, additional_headers: { "a b": "c" } }, "at 'additional_headers.a b', expected a header"],
    [{ uri, additional_headers: { "": "c" } }, "at 'additional_headers.', expected a header name"],
    [{ uri, additional_headers: { a: "c\nd" } }, "at 'additional_headers.a', expected a header"],
    [
      { uri, additional_headers: { a: "\u{1f600}" } },
      "at 'additional_headers.a', expected a header",
    ],
  ])("of the wrong shape is refused: %j", async (body, reason) => {
    const { register, asked } = await setup();
    const { status, json } = await register(body);
    expect(status).toBe(422);
    expect(json).toEqual(refusal(null, expect.stringContaining(reason)));
    expect(asked).toEqual([]);
  });

  test.each([
    [{ uri: "/foo" }, "'/foo' is not absolute"],
    [{ uri: "foo" }, "'foo' is not absolute"],
    [{ uri: "localhost:9080" }, "'localhost:9080' is not absolute"],
    [{ uri: "ftp://localhost" }, "'ftp' is not supported"],
    [{ uri: "http://user:secret@localhost" }, "additional_headers"],
    [{ arn: "foo" }, "8 components"],
    [{ uri, auth: { GoogleIdToken: { impersonate_service_account: "a@b" } } }, "own key"],
    [{ uri, auth: { GoogleIdToken: {}, ServerIdToken: {} } }, "more than one token"],
    [{ uri, auth: { ServerIdToken: { audience: "" } } }, "between 1 and 1024"],
    [{ uri, auth: { ServerIdToken: { header: "cookie" } } }, "'cookie' cannot carry a token"],
    [{ arn: ARN, auth: { ServerIdToken: {} } }, "A function takes no ID token"],
    [{ uri, additional_headers: { Connection: "close" } }, "'connection' cannot be set"],
  ])("with a value that cannot be used is refused: %j", async (body, reason) => {
    const { register, asked } = await setup();
    const { status, json } = await register(body);
    expect(status).toBe(400);
    expect(json).toEqual(refusal(null, expect.stringContaining(reason)));
    expect(json.message).toMatch(/^The request field '\w+' is invalid\. Reason: /);
    expect(json.message).not.toContain("secret");
    expect(asked).toEqual([]);
  });

  test("may have unknown fields, nulls, and an ARN beside the address", async () => {
    const { register, endpoints } = await setup();
    endpoints.set(uri, discovered([]));
    const { status } = await register({
      uri,
      arn: "x",
      unknown: 1,
      additional_headers: null,
      metadata: null,
      use_http_11: null,
      breaking: null,
      force: null,
      auth: null,
    });
    expect(status).toBe(201);
  });

  test("may name things that every object has", async () => {
    const { post, get, endpoints } = await setup();
    endpoints.set(uri, discovered([]));
    const { status, json } = await post(
      "/deployments",
      `{"uri":"${uri}","metadata":{"__proto__":"a","toString":"b"},"additional_headers":{"__proto__":"c"}}`,
    );
    expect(status).toBe(201);
    const shown = JSON.stringify((await get(`/deployments/${json.id}`)).json);
    expect(shown).toContain('"metadata":{"__proto__":"a","toString":"b"}');
    expect(shown).toContain('"additional_headers":{"__proto__":"c"}');
  });

  test("has a limit, declared or not", async () => {
    const { register, send, endpoints } = await setup();
    endpoints.set(uri, discovered([]));
    const padded = (size: number) => {
      const start = `{"uri":"${uri}","pad":"`;
      return `${start}${"x".repeat(size - start.length - 2)}"}`;
    };
    expect((await register(padded(BODY_BYTES_MAX))).status).toBe(201);
    const declared = await register(padded(BODY_BYTES_MAX + 1));
    expect(declared).toMatchObject({ status: 413, json: refusal(null, expect.any(String)) });
    const pulled = { chunks: 0, canceled: false };
    const body = new ReadableStream({
      pull(controller) {
        pulled.chunks++;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel() {
        pulled.canceled = true;
      },
    });
    const headers = { "content-type": "application/json" };
    const init = { headers, body, duplex: "half" } as RequestInit;
    expect((await send("POST", "/deployments", init)).status).toBe(413);
    expect(pulled.canceled).toBe(true);
    expect(pulled.chunks).toBeLessThan(40);
  });

  test("that breaks off is refused, not a failure of ours", async () => {
    const { send, logged } = await setup();
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    const headers = { "content-type": "application/json" };
    const init = { headers, body, duplex: "half" } as RequestInit;
    expect((await send("POST", "/deployments", init)).status).toBe(400);
    expect(logged).toEqual([]);
  });
});

describe("addresses", () => {
  test.each([
    ["http://localhost:9080", "http://localhost:9080/"],
    ["HTTP://LOCALHOST:80/a", "http://localhost/a"],
    ["http://localhost/a#b", "http://localhost/a"],
    ["http://localhost?x=1", "http://localhost/?x=1"],
    ["http://localhost/a/../b", "http://localhost/b"],
    ["https://[::1]:9080", "https://[::1]:9080/"],
  ])("%s is kept as %s", async (given, kept) => {
    const { register, get, endpoints } = await setup();
    endpoints.set(kept, discovered([]));
    const { json: { id } } = await register({ uri: given });
    expect((await get(`/deployments/${id}`)).json.uri).toBe(kept);
    expect((await register({ uri: kept })).status).toBe(200);
  });

  test("that differ in path, slash at its end, query or scheme are different deployments", async () => {
    const { register, endpoints, registry } = await setup();
    const uris = [
      "http://h/",
      "http://h/a",
      "http://h/a/",
      "http://h/A",
      "http://h/?x",
      "https://h/",
    ];
    for (const one of uris) {
      endpoints.set(one, discovered([]));
      expect((await register({ uri: one })).status).toBe(201);
    }
    expect(registry.list().map((one) => one.uri)).toEqual(uris);
  });
});
