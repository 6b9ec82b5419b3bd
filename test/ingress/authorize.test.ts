import { beforeAll, describe, expect, test } from "vitest";
import type { Authenticator } from "../../src/auth/authenticator.ts";
import type { Target } from "../../src/model/target.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { fixture, told } from "./_fixture.ts";
import { id } from "./_names.ts";

const ROLES = ["invoke", "invoke:Svc/*", "invoke:scope/a/*/*", "viewer", "operator", "admin"];
const FLOW_CONTROL = { scopes: true, scopedObjects: true };

let authenticator: Authenticator;
beforeAll(async () => void (authenticator = await authenticatorOf(ROLES)));

const closed = () => fixture({ authenticator });
const opt: Target = { service: "Svc", handler: "opt", type: "service", access: "none" };

async function status(path: string, role?: string, method = "POST"): Promise<number> {
  const headers = role === undefined ? {} : shows(role);
  return (await closed().ask(method, path, { headers })).status;
}

describe("without a valid token", () => {
  test.each([
    "/svc/call/Svc/opt",
    "/svc/send/Svc/opt",
    "/svc/lookup",
    "/svc/call/No/such",
    "/nope",
  ])(
    "POST %s is refused, and nothing is said of the path",
    async (path) => {
      for (const role of [undefined, "wrong"]) {
        const served = closed();
        const headers = role === undefined ? {} : shows(role);
        const response = await served.ask("POST", path, { headers });
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect(await told(response)).toEqual([401, {
          code: 401,
          message: expect.stringContaining("token"),
          source: "ingress",
        }]);
        expect(served.invocations).toMatchObject({ calls: [], sends: [], attaches: [] });
      }
    },
  );

  test.each(["/svc/health", "/svc/ready", "/openapi"])("GET %s is answered", async (path) => {
    expect(await status(path, undefined, "GET")).toBe(200);
  });

  test("a browser may ask what it may send", async () => {
    expect(await status("/svc/call/Svc/opt", undefined, "OPTIONS")).toBe(200);
  });
});

describe("a call", () => {
  test.each([
    ["invoke", 200, 200],
    ["operator", 200, 200],
    ["admin", 200, 200],
    ["invoke:Svc/*", 200, 403],
    ["invoke:scope/a/*/*", 403, 403],
    ["viewer", 403, 403],
  ])("with the role %s: of Svc %i, of Obj %i", async (role, ofSvc, ofObj) => {
    expect(await status("/svc/call/Svc/opt", role)).toBe(ofSvc);
    expect(await status("/Svc/opt", role)).toBe(ofSvc);
    expect(await status("/svc/call/Obj/key/get", role)).toBe(ofObj);
    const sent = ofObj === 200 ? 202 : ofObj;
    expect(await status("/svc/send/Obj/key/get", role)).toBe(sent);
    expect(await status("/svc/call/Wf/key/run", role)).toBe(ofObj);
  });

  test("says what the token may not do", async () => {
    const response = await closed().ask("POST", "/svc/call/Obj/k/get", {
      headers: shows("invoke:Svc/*"),
    });
    expect(await told(response)).toEqual([403, {
      code: 403,
      message: 'the token "invoke:Svc/*" may not call Obj/get',
      source: "ingress",
    }]);
  });

  test("does not pass the token on to the handler", async () => {
    const served = closed();
    const headers = { ...shows("invoke"), "x-mine": "1" };
    await served.ask("POST", "/svc/call/Svc/opt", { headers });
    const names = served.invocations.calls[0]!.headers.map(([name]) => name);
    expect(names).toContain("x-mine");
    expect(names).not.toContain("authorization");
  });

  test("passes on what it does not ask for itself", async () => {
    const served = fixture();
    await served.ask("POST", "/svc/call/Svc/opt", { headers: shows("of the handler") });
    expect(served.invocations.calls[0]!.headers).toContainEqual([
      "authorization",
      "Bearer of the handler",
    ]);
  });
});

describe.each(["attach", "output"])("%s", (verb) => {
  test.each([["invoke", 200], ["invoke:Svc/*", 200], ["invoke:scope/a/*/*", 403], ["viewer", 403]])(
    "with the role %s: %i",
    async (role, expected) => {
      const served = closed();
      served.invocations.existing = opt;
      const response = await served.ask("GET", `/svc/${verb}/${id}`, { headers: shows(role) });
      expect(response.status).toBe(expected);
    },
  );

  test("gives no result of another's handler, by whatever name", async () => {
    const names = [
      `/svc/${verb}/${id}`,
      `/svc/workflow/Wf/k/${verb}`,
      `/svc/invocation/Obj/k/set/ik/${verb}`,
    ];
    for (const name of names) {
      const served = closed();
      served.invocations.existing = { ...opt, service: "Obj", handler: "set" };
      const response = await served.ask("GET", name, { headers: shows("invoke:Svc/*") });
      expect(response.status, name).toBe(403);
      expect(await response.json()).toMatchObject({ message: expect.stringContaining("Obj/set") });
    }
  });
});

test("a scope is part of what may be called", async () => {
  const served = fixture({ authenticator, flowControl: FLOW_CONTROL });
  const ask = async (scope: string, role: string) =>
    (await served.ask("POST", `/svc/scope/${scope}/call/Svc/opt`, { headers: shows(role) })).status;
  expect(await ask("a", "invoke:scope/a/*/*")).toBe(200);
  expect(await ask("ab", "invoke:scope/a/*/*")).toBe(403);
  expect(await ask("b", "invoke:Svc/*")).toBe(200);
});

test("only pages of the origins that are allowed may read answers", async () => {
  const served = fixture({ corsOrigins: ["https://shop.example"] });
  const allowed = async (method: string, origin: string) => {
    const { status, headers } = await served.ask(method, "/svc/health", { headers: { origin } });
    return [status, headers.get("access-control-allow-origin")];
  };
  expect(await allowed("GET", "https://shop.example")).toEqual([200, "https://shop.example"]);
  expect(await allowed("OPTIONS", "https://shop.example")).toEqual([200, "https://shop.example"]);
  expect(await allowed("GET", "https://evil.example")).toEqual([200, null]);
  expect(await allowed("OPTIONS", "https://evil.example")).toEqual([403, null]);
});
