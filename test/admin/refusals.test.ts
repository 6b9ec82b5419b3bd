import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { discovered, refusal, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

describe("refusals", () => {
  test("spell their code the way the caller speaks", async () => {
    const { register, send, endpoints, post } = await setup();
    endpoints.set(uri, discovered([service("openapi")]));
    const both = { svc_code: "META0005", restate_code: "META0005" };
    expect((await register({ uri })).json).toEqual({ message: expect.any(String), ...both });
    for (
      const headers of [
        { "user-agent": "restate-cli/1.7.12 x86_64" },
        { "x-restate-version": "1" },
        { "X-Restate-Features": "" },
      ]
    ) {
      const { json } = await post("/deployments", { uri }, headers as Record<string, string>);
      expect(json).toEqual({ message: expect.any(String), restate_code: "META0005" });
      expect((await send("PUT", "/services", { headers: headers as HeadersInit })).json)
        .toHaveProperty("restate_code", null);
    }
    const others = { "user-agent": "curl/8", "x-svc-version": "1" };
    expect((await post("/deployments", { uri }, others)).json).toMatchObject(both);
  });

  test("of an unexpected error do not describe it, and log it", async () => {
    const { register, endpoints, logged } = await setup();
    endpoints.set(uri, new TypeError("cannot read properties of undefined"));
    const { status, json } = await register({ uri });
    expect(status).toBe(500);
    expect(json).toEqual(refusal(null, "Internal error"));
    expect(logged).toMatchObject([{
      level: "error",
      fields: { method: "POST", path: "/deployments", error: expect.stringContaining("TypeError") },
    }]);
  });

  test("never echo more than a little", async () => {
    const { get, register } = await setup();
    const long = "a".repeat(10_000);
    for (
      const { text } of [
        await get(`/${long}`),
        await get(`/services/${long}`),
        await get(`/deployments/${long}`),
        await register({ uri: long }),
        await register({ uri: `${long}://x` }),
        await register({ uri, additional_headers: { [`${long} `]: "" } }),
        await register({ uri, metadata: { [long]: 1 } }),
      ]
    ) expect(text.length).toBeLessThan(500);
  });
});

describe("whatever is sent", () => {
  const fields = fc.constantFrom(
    "uri",
    "arn",
    "auth",
    "force",
    "breaking",
    "dry_run",
    "metadata",
    "use_http_11",
    "additional_headers",
    "__proto__",
    "toString",
  );
  const almostValid = fc.dictionary(
    fields,
    fc.oneof(
      fc.jsonValue(),
      fc.webUrl(),
      fc.boolean(),
      fc.dictionary(fc.string(), fc.string()),
      fc.dictionary(fc.string(), fc.jsonValue()),
    ),
  );
  const answerOf = async (body: string) => {
    const all = await setup();
    all.endpoints.get = () => discovered([service("A")]);
    return { ...all, ...await all.post("/deployments", body) };
  };

  test("no JSON body gives a failure of ours", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.json(), almostValid.map((one) => JSON.stringify(one))),
        async (body) => {
          const { status, json, logged } = await answerOf(body);
          expect([201, 400, 422]).toContain(status);
          if (status >= 400) {
            expect(Object.keys(json)).toEqual(["message", "svc_code", "restate_code"]);
          }
          expect(logged.filter(({ message }) => !message.includes("is unknown"))).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test("nor does one nested deeper than any stack", async () => {
    const deep = "[".repeat(500_000) + "]".repeat(500_000);
    for (
      const body of [deep, `{"uri":${deep}}`, `{"metadata":{"a":${deep}}}`, `{"auth":${deep}}`]
    ) {
      const { status, logged } = await answerOf(body);
      expect([400, 422]).toContain(status);
      expect(logged).toEqual([]);
    }
  });

  test("no path gives a failure of ours", async () => {
    const { get, logged } = await setup();
    const segment = fc.oneof(fc.constantFrom("services", "deployments", "v2", ""), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1 }), async (segments) => {
        const path = `/${segments.join("/")}`.replace(/^\/+/, "/");
        expect((await get(path)).status).toBeLessThan(500);
        // A path may hold a "?", and what follows is warned about.
        expect(logged.filter(({ level }) => level !== "warn")).toEqual([]);
      }),
    );
  });
});
