import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { expectSound, openTab, type Tab } from "./_tab.ts";

const START_MS = 60_000;

describe.skipIf(!hasBrowser)("a server that asks for tokens", () => {
  let browser: Browser, server: Server, endpoint: Endpoint;

  beforeAll(async () => {
    const roles = ["admin", "viewer", "invoke"];
    const lines = await Promise.all(
      roles.map(async (role) => `${role} ${await digestOf(`token-of-${role}`)} ${role}`),
    );
    const settings = { AUTH__TOKENS: lines.join("\n") };
    [browser, server, endpoint] = await Promise.all([
      openBrowser(),
      startServer({ runtime: "node", settings }),
      startEndpoint("h2"),
    ]);
    const { admin, ingress } = server;
    await register({ admin, ingress, token: "token-of-admin" }, endpoint);
  }, START_MS);
  afterAll(() => Promise.all([browser?.close(), server?.close(), endpoint?.close()]));

  async function signIn(page: Page, token: string): Promise<void> {
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
  }

  const open = (page: string): Promise<Tab> =>
    openTab(browser, `${server.admin}/ui/${page}`, { allowed: [401, 403] });

  test("asks for one, says why it is refused, and shows the page with a right one", async () => {
    // What it is, it tells those who have a token only.
    expect(await (await fetch(`${server.admin}/ui/`)).text()).not.toContain("perdure.0");
    const tab = await open("deployments");
    const { page } = tab;
    await page.getByRole("heading", { name: "asks for a token" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await signIn(page, "wrong");
    await page.getByRole("alert").getByText("unknown or has expired").waitFor();
    await signIn(page, "token-of-invoke");
    await page.getByRole("alert").getByText("has no role of the admin API").waitFor();
    await expectSound(tab);
    await signIn(page, "token-of-viewer");
    await page.getByText(new URL(endpoint.url).host).first().waitFor();
    await page.reload();
    await page.getByText(new URL(endpoint.url).host).first().waitFor();
    await tab.close();
  });

  test("the playground shows the token to an ingress that asks for one", async () => {
    const call = async (token: string, status: string) => {
      const tab = await open("services/Greeter?call=greet");
      const { page } = tab;
      await signIn(page, token);
      const playground = page.getByRole("region", { name: "Playground" });
      await playground.getByRole("textbox", { name: /Input/ }).fill('"you"');
      await playground.getByRole("button", { name: "Call", exact: true }).click();
      await page.getByRole("region", { name: "Answer" }).getByText(status).first().waitFor();
      await tab.close();
    };
    await call("token-of-viewer", "403");
    await call("token-of-admin", "200");
  });
});
