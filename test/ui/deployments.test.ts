import { afterAll, describe, expect, test } from "vitest";
import { freePorts } from "../support/child.ts";
import { register, send } from "../support/client.ts";
import type { Endpoint } from "../support/endpoint.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { startShop } from "./_shop.ts";
import { expectSound, soon, type Tab } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** Types an address into the open dialog and asks for a dry run. */
async function check({ page }: Tab, address: string): Promise<void> {
  await page.getByRole("dialog").getByLabel("Address of the endpoint").fill(address);
  await page.getByRole("button", { name: "Check" }).click();
}

const hostOf = (endpoint: Endpoint) => new URL(endpoint.url).host;

describe.skipIf(!hasBrowser)("deployments", () => {
  let first: Endpoint;
  let second: Endpoint;

  const ui = useUi(async () => {
    [first, second] = await Promise.all([startShop(1), startShop(2)]);
  }, { isRegistered: false });
  afterAll(() => Promise.all([first?.close(), second?.close()]));

  test("are registered by keyboard, with a dry run before", async () => {
    const tab = await ui.open("deployments");
    const { page } = tab;
    await page.getByText("No deployment is registered").waitFor();
    await expectSound(tab);
    await page.getByRole("button", { name: "Register…" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Address of the endpoint").waitFor();
    await expectSound(tab);
    await page.keyboard.type(first.url);
    await page.keyboard.press("Enter");
    await page.getByText("Services: 1 added").waitFor();
    await expectSound(tab);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: hostOf(first) }).waitFor();
    await page.getByText("No open invocation is pinned to it.").waitFor();
    await page.getByRole("row", { name: /Shop/ }).waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("show a diff, and drain when a newer one serves what they served", async () => {
    await send(ui.server, "Shop/hold");
    const tab = await ui.open("deployments?register=yes");
    const { page } = tab;
    await check(tab, second.url);
    const diff = page.getByRole("region", { name: "What changes" });
    await diff.getByText("Services: 1 added, 1 changed").waitFor();
    const shop = diff.getByRole("group").filter({ hasText: "Shop" });
    await soon(() => shop.getByRole("listitem").filter({ hasText: /added\s+refund/ }).count()).toBe(
      1,
    );
    await soon(() => shop.getByRole("listitem").filter({ hasText: /removed\s+price/ }).count())
      .toBe(1);
    await shop.getByText("inactivity_timeout: not set → 5s").waitFor();
    await shop.getByText("retry_policy.max_attempts: not set → 7").waitFor();
    await expectSound(tab);
    await page.getByRole("button", { name: "Register", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: hostOf(second) }).waitFor();
    await page.getByRole("link", { name: "Deployments" }).click();
    const draining = page.getByRole("row", { name: new RegExp(`${hostOf(first)}.*draining`) });
    await draining.waitFor();
    await soon(() => draining.getByRole("cell", { name: "1", exact: true }).count()).toBe(2);
    await page.getByRole("row", { name: new RegExp(`${hostOf(second)}.*active`) }).waitFor();
    await expectSound(tab);
    await draining.focus();
    await page.keyboard.press("Enter");
    const open = page.getByRole("row", { name: /Shop\/hold.*running/ });
    await open.waitFor();
    const target = new URL(await open.getByRole("link").getAttribute("href") ?? "", ui.at(""));
    expect(target.searchParams.get("filter")).toMatch(
      /^deployment:dp_\w+ service:Shop handler:hold status:running$/,
    );
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  // The reference pauses no deployment.
  test.skipIf(isReference)(
    "are paused, resumed, and deleted when their address is typed",
    async () => {
      const tab = await ui.open("deployments");
      const { page } = tab;
      await page.getByRole("link", { name: hostOf(first) }).click();
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("paused", { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause" }).waitFor();
      first.release("hold");
      await page.getByText("No open invocation is pinned to it.").waitFor();
      await page.getByRole("button", { name: "Delete…" }).click();
      const dialog = page.getByRole("dialog", { name: "Delete the deployment" });
      const remove = dialog.getByRole("button", { name: "Delete", exact: true });
      await soon(() => remove.isDisabled()).toBe(true);
      await dialog.getByRole("textbox").fill(hostOf(first));
      await expectSound(tab);
      await remove.click();
      await page.getByRole("heading", { level: 1, name: "Deployments" }).waitFor();
      await page.getByRole("link", { name: hostOf(first) }).waitFor({ state: "detached" });
      expect(tab.wrong).toEqual([]);
      await tab.close();
    },
  );

  test("are not said to be gone because the server does not answer", async () => {
    const tab = await ui.open("deployments", { allowed: [400, 503] });
    const { page } = tab;
    const asked = ({ pathname }: URL) => pathname === "/deployments/dp_1x";
    await page.route(
      asked,
      (route) => route.fulfill({ status: 503, body: '{"message":"busy"}' }),
    );
    await page.goto(ui.at("deployments/dp_1x"));
    await page.getByRole("alert").getByText("busy").waitFor();
    expect(await page.getByText("There is no deployment").count()).toBe(0);
    await page.unroute(asked);
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByText("There is no deployment dp_1x").waitFor();
    await tab.close();
  });

  test("are asked over HTTP/1.1 when HTTP/2 fails", async () => {
    const old = await startShop(2, "h1");
    const tab = await ui.open("deployments?register=yes", { allowed: [500] });
    try {
      await check(tab, old.url);
      await tab.page.getByText("does not answer over HTTP/2").waitFor();
      await tab.page.getByText("Services: 2 changed").waitFor();
      await expectSound(tab);
      await tab.page.getByRole("button", { name: "Register", exact: true }).click();
      await tab.page.getByText("HTTP/1.1, request and response").waitFor();
      expect(tab.wrong).toEqual([]);
    } finally {
      await tab.close();
      await old.close();
    }
  });

  test("say in place why an address cannot be registered", async () => {
    const [port] = await freePorts(1);
    const tab = await ui.open("deployments?register=yes", {
      allowed: [400, 422, 500],
    });
    await check(tab, `http://127.0.0.1:${port}`);
    await tab.page.getByRole("alert").getByText("META0003", { exact: true }).waitFor();
    await check(tab, "arn:nothing");
    await tab.page.getByLabel("ARN of the role to assume").waitFor();
    await tab.page.getByRole("alert").getByText("arn").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("are updated in place, and overwritten only when that is asked for", async () => {
    const other = await startShop(1);
    await register(ui.server, other);
    const tab = await ui.open("deployments", { allowed: [422, 500] });
    const { page } = tab;
    try {
      await page.getByRole("link", { name: hostOf(other) }).click();
      await page.getByRole("button", { name: "Update…" }).click();
      await page.getByRole("button", { name: "Add one" }).click();
      await page.getByLabel("Headers of every request to it: name 1").fill("x-team");
      await page.getByLabel("Headers of every request to it: value 1").fill("<b>\u202eshop</b>");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByRole("alert").waitFor();
      await page.getByLabel("Headers of every request to it: value 1").fill("<b>shop</b>");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByRole("button", { name: "Update", exact: true }).click();
      await page.getByText("x-team: ***").waitFor();
      await expectSound(tab);
    } finally {
      await tab.close();
      await other.close();
    }
  });
});

describe.skipIf(!hasBrowser)("drained deployments", () => {
  const shops: Endpoint[] = [];
  const ui = useUi(async ({ server }) => {
    for (let i = 0; i < 3; i++) shops.push(await startShop(1));
    for (const shop of shops.slice(0, 2)) await register(server, shop);
  }, { isRegistered: false });
  afterAll(() => Promise.all(shops.map((shop) => shop.close())));

  test("are deleted after a question, but for those that drain meanwhile", async () => {
    const [first, second, third] = shops as [Endpoint, Endpoint, Endpoint];
    const tab = await ui.open("deployments");
    const { page } = tab;
    await page.getByRole("button", { name: "Delete 1 drained…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete drained deployments" });
    await dialog.getByText(hostOf(first)).waitFor();
    await expectSound(tab);
    await register(ui.server, third);
    await page.locator("table").getByText("drained", { exact: true }).nth(1).waitFor();
    expect(await dialog.getByRole("listitem").count()).toBe(1);
    await dialog.getByRole("button", { name: "Delete 1", exact: true }).click();
    await page.getByRole("link", { name: hostOf(first) }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: hostOf(second) }).waitFor();
    await page.getByRole("link", { name: hostOf(third) }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
