import { describe, expect, test } from "vitest";
import { manage } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { press, tabTo } from "./_keys.ts";
import { isReference } from "./_seeded.ts";
import { useUi } from "./_ui.ts";

describe.skipIf(!hasBrowser)("pages by keyboard alone", () => {
  const ui = useUi();

  test("settings are chosen, and a page is left for another", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await tabTo(page, /^Skip to content$/);
    await press(page, "Enter");
    await tabTo(page, /^As the system$/);
    await press(page, "ArrowDown", "ArrowDown");
    await page.locator("html[data-theme=dark]").waitFor();
    await press(page, "g", "d");
    await page.getByRole("heading", { level: 1, name: "Deployments" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a file is opened, from the list of invocations", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Invocations" }).waitFor();
    await press(page, ".");
    await tabTo(page, /^Open a file$/);
    await press(page, "Enter");
    await page.getByRole("heading", { level: 1, name: "Open a file" }).waitFor();
    await tabTo(page, /^A file of an invocation/);
    const asked = page.waitForEvent("filechooser");
    await press(page, "Space");
    await (await asked).setFiles([]);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test.skipIf(isReference)("a rule is added, edited and deleted", async () => {
    const tab = await ui.open("limits");
    const { page } = tab;
    await page.getByRole("table", { name: "Limits of services and handlers" }).waitFor();
    await tabTo(page, /^Add a rule…$/);
    await press(page, "Enter");
    await page.getByRole("dialog", { name: "Add a rule" }).waitFor();
    await tabTo(page, /^Pattern/);
    await page.keyboard.type("keys/*");
    await tabTo(page, /^At once/);
    await page.keyboard.type("3");
    await press(page, "Enter");
    await page.getByRole("row", { name: /keys\/\* 3/ }).waitFor();
    await tabTo(page, /^Delete keys/);
    await press(page, "Enter");
    const question = page.getByRole("dialog", { name: "Delete the rule" });
    await question.waitFor();
    await tabTo(page, /^Delete$/);
    await press(page, "Enter");
    await page.getByText("There is no rule").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a cluster is added and deleted", async () => {
    const tab = await ui.open("kafka");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Kafka" }).waitFor();
    await tabTo(page, /^Add a cluster…$/);
    await press(page, "Enter");
    await page.getByRole("dialog", { name: "Add a cluster" }).waitFor();
    await tabTo(page, /^Name/);
    await page.keyboard.type("keys");
    await tabTo(page, /^Properties/);
    await page.keyboard.type("bootstrap.servers=localhost:9092");
    await tabTo(page, /^Add$/);
    await press(page, "Enter");
    await page.getByRole("button", { name: "Delete keys" }).waitFor();
    await tabTo(page, /^Delete keys$/);
    await press(page, "Enter");
    await page.getByRole("dialog", { name: "Delete keys" }).waitFor();
    await tabTo(page, /^Delete$/);
    await press(page, "Enter");
    await page.getByRole("button", { name: "Delete keys" }).waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a deployment is deleted when its address is typed", async () => {
    const host = new URL(ui.endpoint.url).host;
    await manage(ui.server, "PATCH /services/Inner", { public: true });
    const tab = await ui.open("deployments");
    const { page } = tab;
    await page.getByRole("row", { name: new RegExp(host) }).waitFor();
    await press(page, "j", "Enter");
    await page.getByRole("heading", { level: 1, name: host }).waitFor();
    await tabTo(page, /^Delete…$/);
    await press(page, "Enter");
    await page.getByRole("dialog", { name: "Delete the deployment" }).waitFor();
    await tabTo(page, /^Type “/);
    await page.keyboard.type(host);
    await press(page, "Enter");
    await page.getByText("No deployment is registered.").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
