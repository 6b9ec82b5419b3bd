import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { call, operate, query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { tabTo } from "./_keys.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, SHOWN_MS } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const SHOWN = { timeout: SHOWN_MS };

const opener = (page: Page) => page.getByRole("button", { name: "More actions" });
const item = (page: Page, name: string) => page.getByRole("menuitem", { name, exact: true });
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

/** What retries stands as it is, so that its menu does. */
const settings = {
  DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "1h",
  DEFAULT_RETRY_POLICY__MAX_INTERVAL: "1h",
};

describe.skipIf(!hasBrowser)("the menu of what does not fit", () => {
  const ui = useUi(undefined, { settings });
  const stands = (id: string, status: string) =>
    until(`${id} to be ${status}`, async () => {
      const [row] = await query(ui.server, `SELECT status FROM sys_invocation WHERE id = '${id}'`);
      return row?.["status"] === status;
    });
  const started = async (target: string, input: unknown, status: string) => {
    const id = idOf(await send(ui.server, target, input));
    await stands(id, status);
    return id;
  };

  test("is opened, walked through and left by keys, as menus are", async () => {
    const id = await started("Greeter/flakyStep", { id: "menu", failures: 1e6 }, "backing-off");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    const menu = page.getByRole("menu", { name: "More actions" });
    await page.getByRole("button", { name: "Retry now" }).waitFor();
    await tabTo(page, /^More actions$/);
    expect(await opener(page).getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("Enter");
    await menu.waitFor();
    await expect.poll(() => focused(page), SHOWN).toBe("Kill…");
    await expect.poll(() => opener(page).getAttribute("aria-expanded"), SHOWN).toBe("true");
    for (
      const [key, name] of [
        ["ArrowDown", "Call its handler"],
        ["End", "Copy a link to this view"],
        ["ArrowDown", "Kill…"],
        ["ArrowUp", "Copy a link to this view"],
        ["Home", "Kill…"],
        // Neither a key of the page nor of its table holds here.
        ["c", "Call its handler"],
        ["i", "Its row in SQL"],
        ["j", "Its row in SQL"],
      ] as const
    ) {
      await page.keyboard.press(key);
      await expect.poll(() => focused(page), SHOWN).toBe(name);
    }
    await expectSound(tab);
    await page.keyboard.press("Escape");
    await menu.waitFor({ state: "hidden" });
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")))
      .toBe("More actions");
    expect(tab.wrong).toEqual([]);
    await operate(ui.server, "kill", id);
    await tab.close();
  });

  test("does what is chosen by enter or space, and Tab leaves it", async () => {
    const id = await started("Greeter/flakyStep", { id: "does", failures: 1e6 }, "backing-off");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await opener(page).focus();
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => focused(page), SHOWN).toBe("Copy a link to this view");
    await page.keyboard.press("Tab");
    await page.getByRole("menu").waitFor({ state: "hidden" });
    await opener(page).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page), SHOWN).toBe("Kill…");
    await page.keyboard.press("Space");
    const question = page.getByRole("dialog", { name: "Kill this invocation" });
    await question.getByRole("button", { name: "Kill" }).click();
    await page.getByText("[409] killed").first().waitFor();
    // A menu of what has ended has other items, and a link is followed by space as well.
    await opener(page).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("i");
    await expect.poll(() => focused(page), SHOWN).toBe("Its row in SQL");
    await page.keyboard.press("Space");
    await page.getByRole("heading", { level: 1, name: "SQL" }).waitFor();
    await page.getByRole("row", { name: new RegExp(id) }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  // The back-off of the reference cannot be set: it goes on before it is paused.
  test.skipIf(isReference)(
    "has what is rare: another deployment, the journal alone, the handler, the address",
    async () => {
      const id = await started("Greeter/flakyStep", { id: "rare", failures: 1 }, "backing-off");
      const tab = await ui.open(`invocations/${id}?find=x`, {
        permissions: ["clipboard-read", "clipboard-write"],
      });
      const { page } = tab;
      await opener(page).click();
      await item(page, "Copy a link to this view").click();
      await page.getByText("The address is copied").waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume" }).waitFor();
      await opener(page).click();
      const [asked] = await Promise.all([
        page.waitForRequest(/\/resume\?/),
        item(page, "Resume on the latest deployment").click(),
      ]);
      expect(new URL(asked.url()).search).toBe("?deployment=latest");
      await stands(id, "completed");
      await page.getByRole("button", { name: "Restart" }).waitFor();
      await opener(page).click();
      await item(page, "Purge the journal…").click();
      const question = page.getByRole("dialog", { name: "Purge the journal" });
      await question.getByRole("button", { name: "Purge" }).click();
      await page.getByText("It has no journal").waitFor();
      await opener(page).click();
      await item(page, "Call its handler").click();
      await page.getByRole("heading", { level: 1, name: "Greeter" }).waitFor();
      expect(new URL(page.url()).searchParams.get("call")).toBe("flakyStep");
      expect(tab.wrong).toEqual([]);
      await tab.close();
    },
  );

  test("of a row stays while it is open, wherever the pointer is", async () => {
    const id = await started("Greeter/flakyStep", { id: "row", failures: 1e6 }, "backing-off");
    const tab = await ui.open(`invocations?filter=id:${id}`);
    const { page } = tab;
    const row = page.getByRole("row", { name: /flakyStep/ });
    await row.hover();
    await row.getByRole("button", { name: "Retry now" }).waitFor();
    await opener(page).click();
    await item(page, "Kill…").waitFor();
    await page.mouse.move(4, 4);
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(page), SHOWN).toBe("Kill…");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Kill Greeter/flakyStep" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { level: 1 }).click();
    await opener(page).waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await operate(ui.server, "kill", id);
    await tab.close();
  });

  test("of an object leads to its invocations and its state", async () => {
    await call(ui.server, "Counter/menu/add", 7);
    const tab = await ui.open("objects/Counter/menu");
    const { page } = tab;
    await opener(page).click();
    await item(page, "Its invocations").click();
    await page.getByRole("row", { name: /Counter\/add menu/ }).or(
      page.getByRole("row", { name: /Counter.*menu/ }),
    ).first().waitFor();
    await page.goBack();
    await opener(page).click();
    await expectSound(tab);
    await item(page, "Its state in SQL").click();
    await page.getByRole("row", { name: /value .*7/ }).first().waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
