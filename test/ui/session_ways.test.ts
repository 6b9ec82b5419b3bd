import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Authority } from "../support/certificates.ts";
import { digestOf } from "../../src/auth/token_list.ts";
import { type Server, startServer } from "../support/server.ts";
import { closeAll, COMMANDS, newFolder, ready, startProcess } from "../tls/_process.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { type Site, startProxy } from "./_sites.ts";

const START_MS = 60_000;
vi.setConfig({ testTimeout: 60_000 });

describe.skipIf(!hasBrowser)("a session", () => {
  let browser: Browser, server: Server, tokens: string;
  const sites: Site[] = [];

  beforeAll(async () => {
    // The largest that is a token of the list and no cookie.
    const named = [["ada", "token-of-ada"], ["long", "x".repeat(3_500)]] as const;
    const lines = named.map(async ([name, token]) => `${name} ${await digestOf(token)} viewer`);
    tokens = (await Promise.all(lines)).join("\n");
    [browser, server] = await Promise.all([
      openBrowser(),
      startServer({ runtime: "node", settings: { AUTH__TOKENS: tokens } }),
    ]);
  }, START_MS);
  afterAll(async () => {
    for (const site of sites) site.close();
    await Promise.all([browser?.close(), server?.close(), closeAll()]);
  });

  async function signedIn(
    url: string,
    { token = "token-of-ada", ...options }: BrowserContextOptions & { readonly token?: string } =
      {},
  ): Promise<Page> {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(url);
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    return page;
  }

  async function signsOut(page: Page): Promise<void> {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "asks for a token" }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  }

  const kept = (page: Page) => page.evaluate(() => sessionStorage.length);

  test("behind a path prefix is for that path, and the UI works and signs out there", async () => {
    const proxy = await startProxy(server.admin, { prefix: "/ops" });
    sites.push(proxy);
    const page = await signedIn(`http://127.0.0.1:${proxy.port}/ops/ui/settings`);
    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    const name = `perdure-session-${proxy.port}`;
    expect(cookie).toMatchObject({ name, path: "/ops/", httpOnly: true, secure: false });
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await signsOut(page);
    await page.context().close();
  });

  test.each(["node", "deno"])("by TLS on %s is one that only https may set", async (runtime) => {
    const authority = new Authority("sessions");
    const { certFile, keyFile } = authority.issue("perdure");
    const { admin } = await ready(startProcess(COMMANDS[runtime]!(), {
      BASE_DIR: newFolder(),
      TLS__CERT_FILE: certFile,
      TLS__KEY_FILE: keyFile,
      AUTH__TOKENS: tokens,
    }));
    expect(admin).toMatch(/^https:/);
    const page = await signedIn(`${admin}/ui/settings`, { ignoreHTTPSErrors: true });
    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    const name = `__Host-perdure-session-${new URL(admin).port}`;
    expect(cookie).toMatchObject({ name, path: "/", httpOnly: true, secure: true });
    // HTTP/2 sends each cookie in a field of its own.
    const besides = ["a", "z"].map((name) => ({ name, value: "1", url: admin }));
    await page.context().addCookies(besides);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await page.context().clearCookies({ name: /^[az]$/ });
    await signsOut(page);
    await page.context().close();
    authority.close();
  });

  test("that a server does not have is a token of the tab", async () => {
    const proxy = await startProxy(server.admin, { without: /\/internal\/ui\/session/ });
    sites.push(proxy);
    const page = await signedIn(`http://127.0.0.1:${proxy.port}/ui/settings`);
    expect([await kept(page), await page.context().cookies()]).toEqual([1, []]);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    await signsOut(page);
    expect(await kept(page)).toBe(0);
    await page.context().close();
  });

  test("that a wrong token asks for there is refused with why", async () => {
    const proxy = await startProxy(server.admin, { without: /\/internal\/ui\/session/ });
    sites.push(proxy);
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://127.0.0.1:${proxy.port}/ui/`);
    await page.getByLabel("Token").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("The last one was refused").waitFor();
    await page.context().close();
  });

  test("of a token that is too long for a cookie is a token of the tab", async () => {
    const page = await signedIn(`${server.admin}/ui/settings`, { token: "x".repeat(3_500) });
    expect([await kept(page), await page.context().cookies()]).toEqual([1, []]);
    await signsOut(page);
    expect(await kept(page)).toBe(0);
    await page.context().close();
  });
});
