import { describe, expect, test } from "vitest";
import { adminSettings } from "../../src/admin/settings.ts";
import { readConfig } from "../../src/config.ts";
import { startServer } from "../support/server.ts";
import { setup } from "./_setup.ts";

/** A server that starts on a busy machine. */
const START_MS = 30_000;
const ASKED = "http://ops.example:9070/version";

function named(env: Record<string, string>, { asked = ASKED, isOneOrigin = false } = {}): string {
  return adminSettings(readConfig({ env }), { isOneOrigin }).ingressEndpoint(asked);
}

describe("the address of the ingress that browsers are told", () => {
  test("is the one that it listens on", () => {
    expect(named({})).toBe("http://127.0.0.1:8080/");
    expect(named({ SVC_INGRESS__BIND_ADDRESS: "::1", SVC_INGRESS__BIND_PORT: "81" }))
      .toBe("http://[::1]:81/");
  });

  test("has the port that the system chose, once it has", () => {
    const listening = { port: 0 };
    const config = readConfig({ env: { SVC_INGRESS__BIND_PORT: "0" } });
    const { ingressEndpoint } = adminSettings(config, { ingressPort: () => listening.port });
    listening.port = 40_123;
    expect(ingressEndpoint(ASKED)).toBe("http://127.0.0.1:40123/");
  });

  test("is answered at, whichever port the system chose", async () => {
    const server = await startServer({ runtime: "node", settings: { INGRESS__BIND_PORT: "0" } });
    const version = await (await fetch(`${server.admin}/version`)).json();
    const { ingress_endpoint: url } = version as { ingress_endpoint: string };
    expect((await fetch(new URL("restate/health", url))).status).toBe(200);
    await server.close();
  }, START_MS);

  test("has the host of the request where it listens on all addresses", () => {
    for (const address of ["0.0.0.0", "::"]) {
      const env = { SVC_INGRESS__BIND_ADDRESS: address };
      expect(named(env)).toBe("http://ops.example:8080/");
      expect(named(env, { asked: "http://[::1]:9070/ui/" })).toBe("http://[::1]:8080/");
    }
  });

  test("is the advertised one, wherever it listens", () => {
    const env = { SVC_INGRESS__ADVERTISED_ADDRESS: "https://in.example/base" };
    expect(named(env)).toBe("https://in.example/base/");
    expect(named({ ...env, SVC_INGRESS__BIND_ADDRESS: "0.0.0.0" }, { isOneOrigin: true }))
      .toBe("https://in.example/base/");
  });

  test("is that of the admin API where both have one", () => {
    expect(named({}, { asked: "https://w.example/admin/ui/a", isOneOrigin: true }))
      .toBe("https://w.example/");
  });

  test("is in the version and in the policy of the UI, for each request its own", async () => {
    const config = readConfig({ env: { SVC_INGRESS__BIND_ADDRESS: "0.0.0.0" } });
    const ui = () => ({ shell: "", etag: 'W/"1"', pages: [], files: {} });
    const { ingressEndpoint } = adminSettings(config);
    const { serve } = await setup(undefined, { ui, ingressEndpoint, allowedHosts: ["*"] });
    for (const host of ["a.example", "b.example"]) {
      const version = await (await serve(new Request(`http://${host}:9070/version`))).json();
      expect(version).toMatchObject({ ingress_endpoint: `http://${host}:8080/` });
      const page = await serve(new Request(`http://${host}:9070/ui/`));
      expect(page.headers.get("content-security-policy"))
        .toContain(`connect-src 'self' http://${host}:8080;`);
    }
  });
});
