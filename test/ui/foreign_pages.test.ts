import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { until } from "../support/child.ts";
import { openChromium } from "../support/chromium.mjs";
import { query, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { hasBrowser } from "./_browser.ts";
import { type Passed, type Site, startProxy, startSite } from "./_sites.ts";

const START_MS = 60_000;
vi.setConfig({ testTimeout: 60_000 });

const addressOf = ({ admin, ingress }: Server) => ({ admin, ingress });

/** A name of a stranger, whose owner has pointed it to this machine. */
const STRANGER = "evil.example";

let browser: Browser, endpoint: Endpoint, site: Site;
beforeAll(async () => {
  if (!hasBrowser) return;
  [browser, endpoint, site] = await Promise.all([
    openChromium([`--host-resolver-rules=MAP ${STRANGER} 127.0.0.1`]),
    startEndpoint("h2"),
    startSite(),
  ]);
}, START_MS);
afterAll(async () => {
  site?.close();
  await Promise.all([browser?.close(), endpoint?.close()]);
});

interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** What a script of a page gets when it asks its own origin: status and text. */
function ask(page: Page, path: string, init: Asking = {}): Promise<readonly [number, string]> {
  return page.evaluate(async ([path, init]) => {
    const answer = await fetch(path, init);
    return [answer.status, await answer.text()] as const;
  }, [path, init] as const);
}

const json = (body: unknown): Asking => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "application/json" },
  body: JSON.stringify(body),
});

describe.skipIf(!hasBrowser)("a page under a foreign name that resolves to this machine", () => {
  const servers: Server[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.close())));

  async function visit(settings: Record<string, string>) {
    const server = await startServer({ runtime: "node", settings });
    servers.push(server);
    const page = await (await browser.newContext()).newPage();
    const { port } = new URL(server.admin);
    const origin = `http://${STRANGER}:${port}`;
    // The one page that is open to everybody, and empty: scripts of the stranger run there.
    expect((await page.goto(`${origin}/health`))?.status()).toBe(200);
    return { server, page, origin };
  }

  test("reads and changes nothing where no token is asked for, and gets no page", async () => {
    const { server, page, origin } = await visit({});
    for (const path of ["/ui/", "/", "/version", "/deployments", "/metrics", "/services"]) {
      const [status, text] = await ask(page, path);
      expect([path, status], text).toEqual([path, 403]);
      expect(text).not.toContain("-perdure.");
    }
    const { length } = await query(server, "select id from sys_deployment");
    expect((await ask(page, "/query", json({ query: "select 1" })))[0]).toBe(403);
    expect((await ask(page, "/deployments", json({ uri: endpoint.url })))[0]).toBe(403);
    expect(await query(server, "select id from sys_deployment")).toHaveLength(length);
    expect((await page.goto(`${origin}/ui/`))?.status()).toBe(403);
    expect(await page.content()).not.toContain("-perdure.");
  });

  test("has no session, where one is at the name of this machine", async () => {
    const settings = { AUTH__TOKENS: `admin ${await digestOf("token-of-admin")} admin` };
    const { server, page, origin } = await visit(settings);
    const own = await page.context().newPage();
    await own.goto(`${server.admin}/ui/`);
    await own.getByLabel("Token").fill("token-of-admin");
    await own.keyboard.press("Enter");
    await own.getByRole("button", { name: "Sign out" }).waitFor();
    expect((await page.goto(`${origin}/ui/`))?.status()).toBe(200);
    expect(await page.content()).not.toContain("-perdure.");
    for (const path of ["/version", "/deployments", "/internal/ui/session"]) {
      expect((await ask(page, path))[0], path).toBe(401);
    }
    expect((await ask(page, "/query", json({ query: "select 1" })))[0]).toBe(401);
    expect((await ask(page, "/internal/ui/calls-token", { method: "POST" }))[0]).toBe(401);
  });
});

describe.skipIf(!hasBrowser)("a page of another origin, beside a session", () => {
  let server: Server, context: BrowserContext, page: Page;
  /** In front of the server, under another port: sees what browsers really send. */
  let proxy: Site, admin: string;
  const passed: Passed[] = [];

  beforeAll(async () => {
    const settings = { AUTH__TOKENS: `admin ${await digestOf("token-of-admin")} admin` };
    server = await startServer({ runtime: "node", settings });
    await register({ ...addressOf(server), token: "token-of-admin" }, endpoint);
    proxy = await startProxy(server.admin, { onAnswer: (one) => void passed.push(one) });
    admin = `http://127.0.0.1:${proxy.port}`;
  }, START_MS);
  afterAll(async () => {
    proxy?.close();
    await server?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    const own = await context.newPage();
    await own.goto(`${admin}/ui/`);
    await own.getByLabel("Token").fill("token-of-admin");
    await own.keyboard.press("Enter");
    await own.getByRole("button", { name: "Sign out" }).waitFor();
    await own.close();
    return () => context.close();
  });

  /** Another site, and one at another port of this host: for cookies the latter is the same site. */
  const ORIGINS = [["another site", STRANGER, false], ["another port", "127.0.0.1", true]] as const;
  /** Opens a page of theirs, new each time: one that has sent a form is about to be another. */
  const visit = async (host: string) => {
    page = await context.newPage();
    await page.goto(`http://${host}:${site.port}/`);
  };

  /** The answer to a request that something in the page sends, and whether it had the cookie. */
  async function answered(path: string, method: string, send: () => Promise<unknown>) {
    passed.length = 0;
    const of = () => passed.find((one) => one.url === path && one.method === method);
    await send();
    await until(`an answer to ${method} ${path}`, () => of() !== undefined);
    const { status, headers: { cookie = "" } } = of()!;
    return { status, hasCookie: cookie.includes("perdure-session") };
  }

  const post = (path: string, fields: Record<string, string>, type: string) =>
    page.evaluate(([action, fields, type]) => {
      const form = document.createElement("form");
      Object.assign(form, { action, method: "POST", enctype: type });
      for (const [name, value] of Object.entries(fields)) {
        const input = document.createElement("input");
        Object.assign(input, { type: "hidden", name, value });
        form.append(input);
      }
      document.body.append(form);
      form.submit();
    }, [admin + path, fields, type] as const);

  const noCors = (path: string, method: string) =>
    page.evaluate(
      ([url, method]) =>
        fetch(url, { method, mode: "no-cors", credentials: "include" }).catch(() => {}),
      [admin + path, method] as const,
    );

  describe.each(ORIGINS)("%s", (_, host, isSameSite) => {
    test("posts no form that changes something", async () => {
      for (
        const [path, type] of [
          ["/deployments", "text/plain"],
          ["/deployments", "application/x-www-form-urlencoded"],
          ["/internal/invocations_batch_operations/purge", "text/plain"],
          // These need no JSON: only where they come from tells.
          ["/vqueues/vq_1/pause", "multipart/form-data"],
          ["/internal/ui/calls-token", "text/plain"],
        ] as const
      ) {
        await visit(host);
        const fields = { '{"uri": "http://127.0.0.1:1", "x': '": "y"}' };
        const got = await answered(path, "POST", () => post(path, fields, type));
        expect([path, got.hasCookie], path).toEqual([path, isSameSite]);
        expect([401, 403], `${path} ${got.status}`).toContain(got.status);
      }
    });

    test("sends nothing by a script that is taken", async () => {
      await visit(host);
      for (
        const [method, path] of [
          ["POST", "/vqueues/vq_1/pause"],
          ["POST", "/internal/ui/calls-token"],
          ["GET", "/deployments"],
          ["GET", "/internal/ui/events"],
        ] as const
      ) {
        const got = await answered(path, method, () => noCors(path, method));
        expect([path, got.hasCookie]).toEqual([path, isSameSite]);
        // A change is refused for its origin, whatever it shows.
        expect([path, got.status]).toEqual([path, method === "GET" && !isSameSite ? 401 : 403]);
      }
    });

    test("does not sign anybody in or out", async () => {
      await visit(host);
      const before = await context.cookies(admin);
      const path = "/internal/ui/session";
      const fields = { '{"token": "token-of-admin", "x': '": "y"}' };
      const got = await answered(path, "POST", () => post(path, fields, "text/plain"));
      expect(got.status).toBe(403);
      await visit(host);
      const out = page.evaluate(
        (url) => fetch(url, { method: "DELETE", credentials: "include" }).then(() => 0, () => 1),
        admin + path,
      );
      expect(await out).toBe(1);
      expect(await context.cookies(admin)).toEqual(before);
    });

    test("reads no answer, and shows no page in a frame", async () => {
      await visit(host);
      const read = page.evaluate(
        (url) => fetch(url, { credentials: "include" }).then((it) => it.text(), () => "none"),
        `${admin}/version`,
      );
      expect(await read).toBe("none");
      await page.evaluate((src) => {
        const frame = document.createElement("iframe");
        frame.src = src;
        document.body.append(frame);
        return new Promise((resolve) => frame.addEventListener("load", resolve));
      }, `${admin}/ui/`);
      const [, frame] = page.frames();
      expect(frame?.url()).not.toContain(admin);
    });
  });

  test("whereas its own page may do all of that", async () => {
    page = await context.newPage();
    await page.goto(`${admin}/ui/`);
    const read = async (path: string, init?: Asking) => (await ask(page, path, init))[0];
    expect(await read("/vqueues/vq_1/pause", { method: "POST" })).not.toBe(403);
    expect(await read("/internal/ui/calls-token", { method: "POST" })).toBe(200);
    expect(await read("/query", json({ query: "select 1" }))).toBe(200);
    expect(await read("/deployments")).toBe(200);
  });
});
