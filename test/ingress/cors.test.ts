import { describe, expect, it } from "vitest";
import { fixture } from "./_fixture.ts";

const origin = "https://page.example";

function ofCors(response: Response): Record<string, string> {
  return Object.fromEntries(
    [...response.headers].filter(([name]) => name.startsWith("access-control") || name === "vary"),
  );
}

// docs/spec/ingress.md#cors
describe("a page", () => {
  it("may send whatever it asks for", async () => {
    for (const path of ["/svc/call/Svc/opt", "/nope", "/a/b/c/d/e/f/g/h/i"]) {
      const response = await fixture().ask("OPTIONS", path, {
        headers: {
          origin,
          "access-control-request-method": "PUT",
          "access-control-request-headers": "x-a,X-b",
        },
      });
      expect(response.status).toBe(200);
      expect(await response.text()).toBe("");
      expect(ofCors(response)).toEqual({
        "access-control-allow-headers": "x-a,X-b",
        "access-control-allow-methods": "PUT",
        "access-control-allow-origin": origin,
        vary: "origin, access-control-request-method, access-control-request-headers",
      });
    }
  });

  it("that names nothing is allowed nothing", async () => {
    expect(ofCors(await fixture().ask("OPTIONS", "/svc/health"))).toEqual({
      vary: "origin, access-control-request-method, access-control-request-headers",
    });
  });

  it.each([
    ["/svc/call/Svc/opt", "x-svc-id, x-svc-error-source, idempotency-expires"],
    ["/svc/send/Svc/opt", "x-svc-id, x-svc-error-source, idempotency-expires"],
    ["/svc/call/Svc/nope", "x-svc-id, x-svc-error-source, idempotency-expires"],
    ["/restate/call/Svc/opt", "x-restate-id, x-restate-error-source, idempotency-expires"],
    [
      "/Svc/opt",
      "x-svc-id, x-svc-error-source, x-restate-id, x-restate-error-source, idempotency-expires",
    ],
  ])("can read the answer of %s, and its headers", async (path, exposed) => {
    expect(ofCors(await fixture().ask("POST", path, { headers: { origin } }))).toEqual({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": exposed,
      vary: "origin, access-control-request-method, access-control-request-headers",
    });
  });

  it("may send cookies when a setting names its origin, and no other may", async () => {
    const served = fixture({ corsOrigins: ["*", origin] });
    const credentials = async (method: string, from: string) => {
      const response = await served.ask(method, "/svc/call/Svc/opt", { headers: { origin: from } });
      expect(response.headers.get("access-control-allow-origin")).toBe(from);
      return response.headers.get("access-control-allow-credentials");
    };
    for (const method of ["OPTIONS", "POST"]) {
      expect(await credentials(method, origin)).toBe("true");
      expect(await credentials(method, "https://other.example")).toBe(null);
      expect(await credentials(method, "null")).toBe(null);
    }
  });

  it("can read a handler's failure too", async () => {
    const { ask, invocations } = fixture();
    invocations.result = { kind: "failure", failure: { code: 418, message: "end" } };
    const response = await ask("POST", "/svc/call/Svc/opt", { headers: { origin } });
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
  });

  it("who is no page is told nothing of it", async () => {
    expect(ofCors(await fixture().ask("POST", "/svc/call/Svc/opt"))).toEqual({});
  });
});
