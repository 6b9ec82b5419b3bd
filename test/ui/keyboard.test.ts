import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { manage, send, value } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { press, tabTo } from "./_keys.ts";
import { isReference } from "./_seeded.ts";
import { soon } from "./_tab.ts";
import { START_MS, useUi } from "./_ui.ts";

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
    // From the beginning: the browser keeps choosers for the test only once it has been told so.
    const asked = page.waitForEvent("filechooser", { timeout: START_MS });
    asked.catch(() => {});
    await page.getByRole("heading", { level: 1, name: "Invocations" }).waitFor();
    await press(page, ".");
    await tabTo(page, /^Open a file$/);
    await press(page, "Enter");
    await page.getByRole("heading", { level: 1, name: "Open a file" }).waitFor();
    await tabTo(page, /^A file of an invocation/);
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

/** Goes to a field and puts a text in place of what is in it. */
async function write(page: Page, field: RegExp, text: string): Promise<void> {
  await tabTo(page, field);
  await press(page, "Control+a");
  await page.keyboard.type(text);
}

describe.skipIf(!hasBrowser)("what is kept and called, by keyboard alone", () => {
  const ui = useUi();

  test("the state of an object is edited, with its difference", async () => {
    const key = randomUUID();
    await value(ui.server, `Counter/${key}/add`, 3);
    const tab = await ui.open(`objects/Counter/${key}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Edit state…" }).waitFor();
    await tabTo(page, /^Edit state…$/);
    await press(page, "Enter");
    await page.getByRole("group", { name: "value", exact: true }).waitFor();
    await write(page, /^Value/, "7");
    await tabTo(page, /^Review 1 change…$/);
    await press(page, "Enter");
    const dialog = page.getByRole("dialog", { name: "Change state" });
    await soon(() => dialog.locator("del").innerText()).toContain("3");
    await soon(() => dialog.locator("ins").innerText()).toContain("7");
    await tabTo(page, /^Change state$/);
    await press(page, "Enter");
    await page.getByText(/^Accepted:/).waitFor();
    await soon(() => value(ui.server, `Counter/${key}/get`)).toBe(7);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a promise of a run leads to the handler that resolves it", async () => {
    const key = randomUUID();
    await send(ui.server, `Flow/${key}/run`);
    const tab = await ui.open(`workflows/Flow/${key}`);
    const { page } = tab;
    await page.getByRole("region", { name: "Promises" }).getByText("waited for").waitFor();
    await tabTo(page, /^resolve$/);
    await press(page, "Enter");
    await page.getByRole("heading", { level: 1, name: "Flow" }).waitFor();
    await page.getByText(new RegExp(`^POST .*/Flow/${key}/resolve$`)).waitFor();
    await write(page, /^Input/, '"by keys"');
    await tabTo(page, /^Call$/);
    await press(page, "Enter");
    await page.getByRole("region", { name: "Answer" }).getByText("200").waitFor();
    await press(page, "Control+k");
    await page.getByRole("combobox", { name: /^Page, id/ }).waitFor();
    await page.keyboard.type(`Flow/${key}`);
    await page.getByRole("option", { name: /^Flow\// }).first().waitFor();
    await press(page, "Enter");
    await page.getByText("resolved", { exact: true }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a field to edit an option has the focus, also of the second one", async () => {
    const tab = await ui.open("services/Greeter");
    const { page } = tab;
    for (const name of ["Journals", "Abort"]) {
      await page.getByRole("button", { name: `Edit ${name}` }).waitFor();
      await tabTo(page, new RegExp(`^Edit ${name}$`));
      await press(page, "Enter");
      const field = page.getByRole("textbox", { name });
      await field.waitFor();
      expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
      await tabTo(page, /^Cancel$/);
      await press(page, "Enter");
      const button = page.getByRole("button", { name: `Edit ${name}` });
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
    }
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("an option of a service is changed, and a handler of it is called", async () => {
    const tab = await ui.open("services/Greeter?call=greet");
    const { page } = tab;
    await page.getByRole("button", { name: "Edit Journals" }).waitFor();
    await tabTo(page, /^Edit Journals$/);
    await press(page, "Enter");
    await page.getByRole("textbox", { name: "Journals" }).waitFor();
    await press(page, "Control+a");
    await page.keyboard.type("2h");
    await press(page, "Enter");
    await page.getByText("changed; default 1d").waitFor();
    await write(page, /^Input/, '"Ada"');
    await tabTo(page, /^Call$/);
    await press(page, "Enter");
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByText("200").waitFor();
    // No page may read the id of a call in an answer of the reference.
    if (!isReference) {
      await tabTo(page, /^inv_/);
      await press(page, "Enter");
      await page.getByRole("heading", { level: 1, name: "Greeter/greet" }).waitFor();
    }
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a statement is run, and one of its rows is opened", async () => {
    const tab = await ui.open("sql");
    const { page } = tab;
    await page.getByText("sys_invocation_status").first().waitFor();
    await write(page, /^Statement$/, "SELECT name, ty FROM sys_service ORDER BY name");
    await press(page, "Escape", "Control+Enter");
    await page.getByRole("row", { name: /Counter/ }).waitFor();
    await tabTo(page, /^.?Counter/);
    await press(page, "Enter");
    const row = page.getByRole("dialog", { name: /^Row \d+$/ });
    await row.getByText("virtual_object").waitFor();
    await press(page, "Escape");
    await row.waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
