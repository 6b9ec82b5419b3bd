import { describe, expect, test } from "vitest";
import { checkBrowser } from "../../src/admin/browser_check.ts";
import { Failure } from "../../src/errors.ts";
import { authenticatorOf, shows } from "../support/tokens.ts";
import { setup } from "./_setup.ts";

const OPEN = { allowedHosts: [], needsToken: false };

function refusal(
  url: string,
  { method = "GET", headers = {}, options = OPEN }: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly options?: { readonly allowedHosts: readonly string[]; readonly needsToken: boolean };
  } = {},
): string | undefined {
  try {
    checkBrowser(new Request(url, { method, headers }), options);
    return undefined;
  } catch (cause) {
    expect(cause).toBeInstanceOf(Failure);
    expect((cause as Failure).status).toBe(403);
    return (cause as Failure).message;
  }
}

describe("the name in the address", () => {
  test.each([
    "localhost:9070",
    "LOCALHOST",
    "perdure.localhost",
    "127.0.0.1:9070",
    "127.8.9.1",
    "[::1]:9070",
    "10.0.0.7:9070",
    "[fd00::7]:9070",
    "perdure-1:9070",
  ])("%s is this machine's, or of no stranger", (host) => {
    expect(refusal(`http://${host}/deployments`)).toBeUndefined();
  });

  test.each([
    "evil.example",
    "evil.example:9070",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
  ])(
    "%s may have been pointed here by anybody",
    (host) => {
      expect(refusal(`http://${host}/deployments`)).toMatch(/not known as .*admin\.allowed-hosts/);
    },
  );

  test("may be one that the settings name, or need not matter", () => {
    const url = "http://Admin.Shop.Example:9070/deployments";
    const allowing = (...allowedHosts: string[]) => ({ allowedHosts, needsToken: false });
    expect(refusal(url, { options: allowing("admin.shop.EXAMPLE") })).toBeUndefined();
    expect(refusal(url, { options: allowing("*") })).toBeUndefined();
    expect(refusal(url, { options: allowing("shop.example") })).toBeDefined();
    expect(refusal(url, { options: { allowedHosts: [], needsToken: true } })).toBeUndefined();
  });

  test("counts with tokens, too, if the settings name some", () => {
    const url = "http://evil.example:9070/deployments";
    const naming = (...allowedHosts: string[]) => ({ allowedHosts, needsToken: true });
    const message = refusal(url, { options: naming("admin.shop.example") });
    expect(message).toMatch(/not known as "evil\.example".*"admin\.allowed-hosts"$/);
    for (const own of ["admin.shop.example", "127.0.0.1:9070", "localhost", "perdure-1:9070"]) {
      const asked = refusal(`http://${own}/deployments`, { options: naming("admin.shop.example") });
      expect(asked, own).toBeUndefined();
    }
    expect(refusal(url, { options: naming("*") })).toBeUndefined();
    expect(refusal(url, { options: naming("evil.example") })).toBeUndefined();
  });
});

describe("a page of another origin", () => {
  const url = "http://127.0.0.1:9070/deployments";

  test.each(["http://evil.example", "http://127.0.0.1:9071", "http://localhost:9070", "null", "x"])(
    "%s may change nothing, with a token or without",
    (origin) => {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        for (const needsToken of [true, false]) {
          const options = { allowedHosts: ["*"], needsToken };
          expect(refusal(url, { method, headers: { origin }, options }))
            .toContain(`a page of "${origin}" may not change anything here`);
        }
      }
    },
  );

  test("its own may, also behind a proxy that speaks TLS, and so may programs", () => {
    for (const origin of ["http://127.0.0.1:9070", "https://127.0.0.1:9070"]) {
      expect(refusal(url, { method: "POST", headers: { origin } })).toBeUndefined();
    }
    expect(refusal(url, { method: "POST" })).toBeUndefined();
  });

  test("may be this server's own behind a proxy that asks under another name", () => {
    const headers = { origin: "https://admin.shop.example" };
    const allowing = (...allowedHosts: string[]) => ({ allowedHosts, needsToken: true });
    expect(refusal(url, { method: "POST", headers })).toContain("admin.allowed-hosts");
    expect(refusal(url, { method: "POST", headers, options: allowing("admin.shop.example") }))
      .toBeUndefined();
    expect(refusal(url, { method: "POST", headers, options: allowing("shop.example") }))
      .toBeDefined();
  });

  test("may ask what it will: it cannot read the answer", () => {
    const headers = { origin: "http://evil.example" };
    for (const method of ["GET", "HEAD"]) expect(refusal(url, { method, headers })).toBeUndefined();
  });
});

test("the admin API checks it, but not for those who ask for its health", async () => {
  const origin = "http://evil.example";
  const { send } = await setup();
  const init = { headers: { origin, "content-type": "application/json" }, body: "{}" };
  expect((await send("POST", "/deployments", init)).status).toBe(403);
  const closed = await setup(undefined, { authenticator: await authenticatorOf(["admin"]) });
  const shown = { ...init, headers: { ...init.headers, ...shows("admin") } };
  expect((await closed.send("POST", "/deployments", shown)).status).toBe(403);
});
