import { describe, expect, test } from "vitest";
import { manage, query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { BIDI, MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

describe.skipIf(!hasBrowser || !isReference)("limits of the reference", () => {
  const ui = useUi();

  test("say that flow control is off", async () => {
    const tab = await ui.open("limits");
    await tab.page.getByText("Flow control is off on this server").waitFor();
    await expectSound(tab);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser || isReference)("limits", () => {
  const rules = () => query(ui.server, "SELECT pattern, concurrency, rate_count FROM sys_rules");

  const ui = useUi(async ({ server, endpoint }) => {
    await manage(server, "PUT /limits/rules", [
      { pattern: "acme", limits: { concurrency: 7 }, description: MARKUP + BIDI },
    ]);
    await manage(server, "PATCH /services/Inner", { paused: true });
    await send(server, "Counter/held/hold", "h1");
    await endpoint.happens("h1 hold");
    await send(server, "Counter/held/add", 1);
  });

  test("say what is off, what waits for what, and what is limited", async () => {
    const tab = await ui.open("limits");
    const { page } = tab;
    await page.getByText("Scopes are off on this server").waitFor();
    const rule = page.getByRole("table", { name: "Rules" }).getByRole("row", { name: /acme/ });
    await rule.getByText(MARKUP).waitFor();
    const queue = page.getByRole("table", { name: "Queues" }).getByRole("row", { name: /held/ });
    await queue.getByText("the lock of Counter/held").waitFor();
    const services = page.getByRole("table", { name: "Limits of services and handlers" });
    await services.getByRole("row", { name: /Inner/ }).getByText("paused").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("keys go through the table with the focus, and through the first one without", async () => {
    const tab = await ui.open("limits");
    const { page } = tab;
    const rows = (name: string) => page.getByRole("table", { name }).getByRole("row");
    await rows("Queues").nth(1).waitFor();
    await rows("Rules").nth(1).waitFor();
    const focused = () =>
      page.evaluate(() => document.activeElement?.closest("table")?.caption?.textContent);
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("Limits of services and handlers");
    await rows("Rules").nth(1).focus();
    for (const key of ["j", "k"]) await page.keyboard.press(key);
    await expect.poll(focused).toBe("Rules");
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keys" });
    await sheet.getByText("Next row").waitFor();
    await soon(() => sheet.getByRole("heading", { name: "Table" }).count()).toBe(1);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a queue has an address, to which its id leads when it is pasted", async () => {
    const [{ id = "" } = {}] = await query(
      ui.server,
      "SELECT id FROM sys_vqueue_meta WHERE lock_name = 'Counter/held'",
    );
    const tab = await ui.open("settings");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(String(id));
    await page.getByRole("option", { name: `${id} queue` }).click();
    await page.waitForURL(ui.at(`limits?queue=${id}`));
    const rows = page.getByRole("table", { name: "Queues" }).getByRole("row");
    await rows.nth(1).getByText("Counter/held", { exact: true }).waitFor();
    await soon(() => rows.count()).toBe(2);
    await expectSound(tab);
    await page.goto(ui.at("limits?queue=vq_1no"));
    await page.getByText("There is no such queue now.").waitFor();
    await page.getByRole("link", { name: "All queues" }).click();
    await rows.nth(1).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("rules are added, edited and deleted, and refused in place", async () => {
    const tab = await ui.open("limits");
    const { page } = tab;
    await page.getByRole("button", { name: "Edit acme" }).focus();
    await page.keyboard.press("Enter");
    const edit = page.getByRole("dialog", { name: "Edit a rule" });
    await edit.getByLabel("At once").fill("9");
    await edit.getByLabel("Starts in each period").fill("100");
    await manage(ui.server, "PUT /limits/rules", [{ pattern: "acme", limits: {} }]);
    await edit.getByRole("button", { name: "Save" }).click();
    await edit.getByRole("alert").getByText(/version/).waitFor();
    await expectSound({ ...tab, wrong: tab.wrong.filter((text) => !text.startsWith("409")) });
    await edit.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("button", { name: "Add a rule…" }).click();
    const add = page.getByRole("dialog", { name: "Add a rule" });
    await add.getByLabel("Pattern").fill("*/batch");
    await add.getByLabel("At once").fill("5");
    await add.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Delete */batch" }).waitFor();
    expect(await rules()).toContainEqual({ pattern: "*/batch", concurrency: 5 });
    await page.getByRole("button", { name: "Delete */batch" }).click();
    const question = page.getByRole("dialog", { name: "Delete the rule" });
    await question.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete */batch" }).waitFor({ state: "detached" });
    expect(await rules()).toEqual([{ pattern: "acme" }]);
    await tab.close();
  });

  test("services and handlers are limited, and queues paused and resumed", async () => {
    const tab = await ui.open("limits");
    const { page } = tab;
    await page.getByRole("button", { name: "Limit Greeter" }).click();
    const dialog = page.getByRole("dialog", { name: "Limit Greeter" });
    await dialog.getByLabel("Of").selectOption("greet");
    await dialog.getByLabel("At once").fill("2");
    await dialog.getByLabel("Starts in each period").fill("60");
    await dialog.getByLabel("Period", { exact: true }).fill("1m");
    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.getByRole("row", { name: /Greeter\/greet/ });
    await row.getByText("60 in 1m").waitFor();
    await page.getByRole("button", { name: "Pause the queue of Counter/held" }).click();
    await page.getByRole("button", { name: "Resume the queue of Counter/held" }).click();
    await page.getByRole("button", { name: "Pause the queue of Counter/held" }).waitFor();
    await page.getByRole("button", { name: "Resume Inner" }).click();
    await page.getByRole("button", { name: "Pause Inner" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
