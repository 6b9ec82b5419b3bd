import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { expectSound, openTab, soon, type Tab } from "./_tab.ts";

const START_MS = 60_000;
vi.setConfig({ testTimeout: 60_000 });

const lineOf = async (role: string, name = role) =>
  `${name} ${await digestOf(`token-of-${name}`)} ${role}`;

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
}

const asked = (page: Page) => page.getByRole("heading", { name: "asks for a token" }).waitFor();

describe.skipIf(!hasBrowser)("a server that asks for tokens", () => {
  let browser: Browser, server: Server, endpoint: Endpoint, folder: string, file: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "sign-in-"));
    file = path.join(folder, "tokens");
    writeFileSync(file, await lineOf("operator", "leaver"));
    const lines = await Promise.all(["admin", "viewer", "invoke"].map((role) => lineOf(role)));
    const settings = { AUTH__TOKENS: lines.join("\n"), AUTH__TOKENS_FILE: file };
    [browser, server, endpoint] = await Promise.all([
      openBrowser(),
      startServer({ runtime: "node", settings }),
      startEndpoint("h2"),
    ]);
    const { admin, ingress } = server;
    await register({ admin, ingress, token: "token-of-admin" }, endpoint);
  }, START_MS);
  afterAll(async () => {
    await Promise.all([browser?.close(), server?.close(), endpoint?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (page: string): Promise<Tab> =>
    openTab(browser, `${server.admin}/ui/${page}`, { allowed: [401, 403] });
  const shown = ({ page }: Tab) => page.getByText(new URL(endpoint.url).host).first().waitFor();

  test("asks for one, says why it is refused, and shows the page with a right one", async () => {
    // What it is, it tells those who have a token only.
    expect(await (await fetch(`${server.admin}/ui/`)).text()).not.toContain("perdure.0");
    const tab = await open("deployments");
    const { page } = tab;
    await asked(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    await expectSound(tab);
    await signIn(page, "wrong");
    await page.getByRole("alert").getByText("unknown or has expired").waitFor();
    await signIn(page, "token-of-invoke");
    await page.getByRole("alert").getByText("has no role of the admin API").waitFor();
    await expectSound(tab);
    await signIn(page, "token-of-viewer");
    await shown(tab);
    await page.reload();
    await shown(tab);
    await expectSound(tab);
    await tab.close();
  });

  test("gives no script its token, and every tab the session", async () => {
    const tab = await open("deployments");
    const { page } = tab;
    await signIn(page, "token-of-viewer");
    await shown(tab);
    const kept = await page.evaluate(() =>
      [document.cookie, JSON.stringify(sessionStorage), JSON.stringify(localStorage)].join()
    );
    expect(kept).not.toMatch(/token|perdure-session/);
    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: `perdure-session-${new URL(server.admin).port}`,
      path: "/",
      httpOnly: true,
      secure: false,
      sameSite: "Strict",
    });
    expect(cookie!.value).not.toContain("token");
    const other = await page.context().newPage();
    // The stream of hints goes with the session, too.
    const hints = other.waitForResponse(/internal\/ui\/events/);
    await other.goto(`${server.admin}/ui/deployments`);
    await other.getByText(new URL(endpoint.url).host).first().waitFor();
    expect((await hints).status()).toBe(200);
    // A link opens what only a session may read.
    await other.goto(`${server.admin}/ui/services/Greeter`);
    const opened = page.context().waitForEvent("page");
    await other.getByRole("link", { name: "OpenAPI" }).click();
    await (await opened).getByText("Greeter").first().waitFor();
    await tab.close();
  });

  test("is left by a button, after which no tab has a session", async () => {
    const tab = await open("deployments");
    const { page } = tab;
    await signIn(page, "token-of-viewer");
    const leave = page.getByRole("button", { name: "Sign out" });
    await leave.waitFor();
    await soon(() => leave.getAttribute("title")).toBe("Sign out viewer (viewer)");
    await leave.click();
    await asked(page);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
    await page.reload();
    await asked(page);
    await signIn(page, "token-of-admin");
    await shown(tab);
    await tab.close();
  });

  test("goes by the keyboard alone", async () => {
    const tab = await open("deployments");
    const { page } = tab;
    await asked(page);
    // The field has the focus, and gets it back.
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("unknown or has expired").waitFor();
    await page.keyboard.type("token-of-viewer");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await shown(tab);
    await page.getByRole("button", { name: "Sign out" }).focus();
    await page.keyboard.press("Enter");
    await asked(page);
    await page.keyboard.type("token-of-admin");
    await page.keyboard.press("Enter");
    await shown(tab);
    // Keys of the page work at once.
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Services" }).waitFor();
    await tab.close();
  });

  test("ends the session of a token that is taken out of the list, and says so", async () => {
    const tab = await open("deployments");
    const { page } = tab;
    await signIn(page, "token-of-leaver");
    await shown(tab);
    writeFileSync(file, "# nobody");
    await vi.waitFor(async () => {
      const headers = { authorization: "Bearer token-of-leaver" };
      expect((await fetch(`${server.admin}/version`, { headers })).status).toBe(401);
    }, 20_000);
    await page.getByRole("link", { name: "Services" }).first().click();
    await page.getByRole("alert").getByText("its token is unknown or has expired").waitFor();
    await expectSound(tab);
    await signIn(page, "token-of-viewer");
    await page.getByText("Greeter").first().waitFor();
    await tab.close();
  });

  test("the playground calls an ingress that asks for a token, and does not get it", async () => {
    const call = async (token: string, status: string) => {
      const tab = await open("services/Greeter?call=greet");
      const { page } = tab;
      const sent: string[] = [];
      page.on("request", (request) => {
        if (request.url().startsWith(server.ingress)) {
          sent.push(request.headers()["authorization"] ?? "");
        }
      });
      await signIn(page, token);
      const playground = page.getByRole("region", { name: "Playground" });
      await playground.getByRole("textbox", { name: /Input/ }).fill('"you"');
      await playground.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("region", { name: "Answer" }).getByText(status).first().waitFor();
      expect(sent.filter((one) => one !== "").length).toBeGreaterThan(0);
      expect(sent.join()).not.toContain(token);
      await tab.close();
    };
    await call("token-of-viewer", "403");
    await call("token-of-admin", "200");
  });
});

describe.skipIf(!hasBrowser)("a session whose time is over", () => {
  let browser: Browser, server: Server;

  beforeAll(async () => {
    const settings = { AUTH__TOKENS: await lineOf("viewer"), AUTH__SESSION_LIFETIME: "3s" };
    [browser, server] = await Promise.all([
      openBrowser(),
      startServer({ runtime: "node", settings }),
    ]);
  }, START_MS);
  afterAll(() => Promise.all([browser?.close(), server?.close()]));

  test("is said to have ended, and the page goes on after signing in again", async () => {
    const tab = await openTab(browser, `${server.admin}/ui/sql`, { allowed: [401] });
    const { page } = tab;
    await signIn(page, "token-of-viewer");
    await page.getByRole("heading", { name: "SQL" }).waitFor();
    await vi.waitFor(async () => expect(await page.context().cookies()).toEqual([]), 20_000);
    await page.getByRole("link", { name: "Services" }).first().click();
    await page.getByRole("alert").getByText("The session has ended").waitFor();
    await signIn(page, "token-of-viewer");
    await page.getByRole("heading", { name: "Services" }).waitFor();
    await tab.close();
  });
});
