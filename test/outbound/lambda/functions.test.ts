import { describe, expect, test } from "vitest";
import type { DialFailure } from "../../../src/dial.ts";
import type { Reply } from "./_function_service.ts";
import { arn, call, cloudWith, envelope, failure, manifest, V4 } from "./_world.ts";

describe("discovery of a function", () => {
  test("is a signed call with an event that looks like a request", async () => {
    const { cloud, ask } = await cloudWith(() =>
      envelope(200, JSON.stringify(manifest), { "Content-Type": V4, "x-restate-server": "sdk/1" })
    );
    const found = await ask();
    expect(found).toMatchObject({
      httpVersion: "HTTP/1.1",
      dialect: "restate",
      sdkVersion: "sdk/1",
      manifest: { mode: "requestResponse", minProtocol: 5, maxProtocol: 7 },
    });
    const [{ path, headers, body } = { path: "", headers: {}, body: "{}" }] = cloud.seen;
    expect(path).toBe(`/2015-03-31/functions/${encodeURIComponent(arn)}/invocations`);
    expect(headers).toMatchObject({ "x-amz-invocation-type": "RequestResponse" });
    const event = JSON.parse(body);
    expect(event).toMatchObject({ path: "/discover", httpMethod: "GET", isBase64Encoded: true });
    expect(event.headers).toMatchObject({ "x-key": "k", "x-restate-cluster-name": "here" });
    expect(event.headers.accept).toContain(V4);
  });

  test("needs credentials, names them, and sends no call", async () => {
    const { cloud, ask } = await cloudWith(() => envelope(200, ""), { credentials: undefined });
    const { code, message } = await failure(ask());
    expect(code).toBe("META0003");
    expect(message).toContain("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    expect(cloud.seen).toEqual([]);
  });

  test("with wrong credentials is refused at once, with the message of the service", async () => {
    const credentials = { accessKeyId: "AKIDOWN", secretAccessKey: "guessed" };
    const { cloud, ask } = await cloudWith(() => envelope(200, ""), { credentials });
    const { code, message } = await failure(ask());
    expect(code).toBe("META0003");
    expect(message).toContain("answered 403: The signature does not match");
    expect(message).not.toContain("guessed");
    expect(cloud.seen).toHaveLength(1);
  });

  test("of one that wants to stream is refused with META0015", async () => {
    const { ask } = await cloudWith(() =>
      envelope(200, JSON.stringify({ ...manifest, protocolMode: "BIDI_STREAM" }), {
        "content-type": V4,
      })
    );
    expect((await failure(ask())).code).toBe("META0015");
  });

  test("of a function that is not an endpoint is refused", async () => {
    const { ask } = await cloudWith(() => ({ body: '"hello"' }));
    const { code, message } = await failure(ask());
    expect(code).toBe("META0003");
    expect(message).toContain("is it an SDK endpoint?");
  });
});

describe("an exchange with a function", () => {
  test("carries the request as one event, and the payload as one response", async () => {
    const { functions, cloud } = await cloudWith(() =>
      envelope(201, "\u0000ÿ binary", { "X-Some": "thing" })
    );
    const said = [Uint8Array.of(0, 255), new Uint8Array(100_000).fill(7)];
    const { head, body } = await call(functions, said);
    expect([head?.status, head?.header("x-some"), body]).toEqual([201, "thing", "\u0000ÿ binary"]);
    const event = JSON.parse(cloud.seen[0]?.body ?? "");
    expect(event).toMatchObject({ path: "/invoke/Svc/run", httpMethod: "POST" });
    expect(Buffer.from(event.body, "base64")).toEqual(Buffer.concat(said));
  });

  test("reads a body that is text, and none", async () => {
    let answer = { body: JSON.stringify({ statusCode: 200, body: "plain" }) };
    const { functions } = await cloudWith(() => answer);
    expect((await call(functions)).body).toBe("plain");
    answer = { body: JSON.stringify({ statusCode: 204 }) };
    const { head, body } = await call(functions);
    expect([head?.status, body]).toEqual([204, ""]);
  });

  test.each<[string, Reply, Partial<DialFailure>]>([
    [
      "a function that fails",
      {
        headers: { "x-amz-function-error": "Unhandled" },
        body: JSON.stringify({ errorType: "Error", errorMessage: "out of memory" }),
      },
      { kind: "reset", message: "the function failed: Error: out of memory" },
    ],
    [
      "a function that is not there",
      { status: 404, body: JSON.stringify({ Message: "Function not found" }) },
      { kind: "refused", message: "the function service answered 404: Function not found" },
    ],
    [
      "a service that fails",
      { status: 500, body: "oops" },
      { kind: "reset", message: "the function service answered 500: oops" },
    ],
    [
      "something else than a response",
      { body: "null" },
      {
        kind: "reset",
        message: "the function answered something else than a response: is it an SDK endpoint?",
      },
    ],
    [
      "a body that is not base 64",
      { body: JSON.stringify({ statusCode: 200, body: "#", isBase64Encoded: true }) },
      { kind: "reset", message: "the function answered a body that is not base 64" },
    ],
    [
      "too long an answer",
      { body: "x".repeat(1024 * 1024 + 1) },
      { kind: "refused", message: "the function answered more than 1048576 bytes" },
    ],
  ])("fails because of %s", async (_what, answer, expected) => {
    const { functions } = await cloudWith(() => answer);
    const received = await call(functions);
    expect(received).toEqual({ body: "", failure: expected });
  });

  test("passes on that there are too many calls", async () => {
    const { functions } = await cloudWith(() => ({
      status: 429,
      headers: { "retry-after": "7" },
      body: "slow down",
    }));
    const { head } = await call(functions);
    expect([head?.status, head?.header("retry-after")]).toEqual([429, "7"]);
  });

  test("is not sent when it is too large", async () => {
    const { functions, cloud } = await cloudWith(() => envelope(200, ""));
    const { head } = await call(functions, [new Uint8Array(5 * 1024 * 1024)]);
    expect(head?.status).toBe(413);
    expect(cloud.seen).toEqual([]);
  });

  test("that is aborted calls its listener no more", async () => {
    let arrived = () => {};
    const underWay = new Promise<void>((resolve) => arrived = resolve);
    const { functions } = await cloudWith(() => {
      arrived();
      return new Promise<Reply>(() => {});
    });
    const received: string[] = [];
    const exchange = functions.dial(arn, {}).open(
      { url: `${arn}/x`, method: "GET", headers: {}, version: "h1", connectTimeoutMs: 1000 },
      {
        head: () => received.push("head"),
        chunk: () => received.push("chunk"),
        end: () => received.push("end"),
        failed: () => received.push("failed"),
        drain: () => received.push("drain"),
      },
    );
    exchange.end();
    await underWay;
    exchange.abort();
    await new Promise((resolve) => setImmediate(resolve));
    expect(received).toEqual([]);
  });
});
