import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { value } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const HOSTILE = `<img src=x onerror="alert(1)">'"\u202egnp.exe</textarea>`;
/** In the words of the server at hand. */
const NO_COLUMN = isReference ? "nothing" : 'there is no column "nothing"';
const ROUTE_BYTES = 25 * 1024;
const NODES_MAX = 1_500;
const ROWS = 3_000;

describe.skipIf(!hasBrowser)("SQL", () => {
  const ui = useUi(async (ui) => {
    const key = encodeURIComponent(HOSTILE);
    await value(ui.server, `Counter/${key}/append`, HOSTILE);
    await value(ui.server, `Counter/${key}/append`, { deep: "x".repeat(300_000) });
    await value(ui.server, "Greeter/greet", HOSTILE);
  });

  const editor = (page: Page) => page.getByRole("textbox", { name: "Statement" });
  const result = (page: Page) => page.getByRole("region", { name: "Result" });
  const asking = (q: string) => `sql?${new URLSearchParams({ q })}`;

  test("is written with completions and run by keyboard, and is the address", async () => {
    const tab = await ui.open("sql");
    const { page } = tab;
    await page.getByText("sys_invocation_status").first().waitFor();
    await editor(page).fill("");
    await page.keyboard.type("SELECT id, target FROM sys_inv");
    await page.getByRole("option", { name: /^sys_invocation table/ }).waitFor();
    await expectSound(tab);
    await page.keyboard.press("Tab");
    await page.keyboard.type(" WHERE target_service_n");
    await page.getByRole("option", { name: /^target_service_name/ }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(" = 'Greeter'");
    await page.keyboard.press("Control+Enter");
    await result(page).getByText(/^1 row · /).waitFor();
    const statement = "SELECT id, target FROM sys_invocation WHERE target_service_name = 'Greeter'";
    expect(new URL(page.url()).searchParams.get("q")).toBe(statement);
    const id = page.getByRole("cell").getByRole("link", { name: /^inv_/ });
    await soon(() => id.getAttribute("href")).toMatch(/^invocations\/inv_1/);
    await expectSound(tab);
    expect(tab.requests.find(({ url }) => url.includes("sql_page"))?.bytes)
      .toBeLessThan(ROUTE_BYTES);
    await page.reload();
    await result(page).getByText(/^1 row · /).waitFor();
    await page.getByText("Earlier statements (1)").click();
    await page.getByRole("button", { name: "Forget all" }).click();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows every digit, as a table, as JSON and in files", async () => {
    const tab = await ui.open(asking("SELECT 18446744073709551615 AS big, 'a,b' AS text"));
    const { page } = tab;
    await page.getByRole("cell", { name: "18446744073709551615" }).waitFor();
    for (
      const [name, expected] of [
        ["CSV", 'big,text\r\n18446744073709551615,"a,b"\r\n'],
        ["JSON", '{"rows":[{"big":18446744073709551615,"text":"a,b"}]}'],
      ] as const
    ) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name, exact: true }).click(),
      ]);
      expect(readFileSync(await download.path(), "utf8")).toBe(expected);
    }
    await page.getByRole("button", { name: "As JSON", exact: true }).click();
    await page.getByText("rows:").waitFor();
    expect(new URL(page.url()).searchParams.get("as")).toBe("json");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("copies the path of a value in JSON, by mouse and by keys", async () => {
    const json = JSON.stringify({ items: [{ [HOSTILE]: 1 }, { "a/b~c": { deep: true } }] });
    const tab = await ui.open(asking(`SELECT '${json.replaceAll("'", "''")}' AS value`), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { page } = tab;
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("button", { name: "1", exact: true }).click();
    const value = page.getByRole("dialog").getByRole("group", { name: "value" });
    const path = value.getByRole("button", { name: "Copy the path of this value" });
    await value.getByText("items:").click();
    await path.click();
    await soon(copied).toBe("/items");
    // To the second item, into it, and to what is in there.
    await value.getByText("{1}", { exact: true }).focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) {
      await page.keyboard.press(key);
    }
    // The browser tells later that a member is unfolded: there is no row below it before.
    await value.getByText("a/b~c:").waitFor();
    for (const key of ["ArrowDown", "Enter"]) await page.keyboard.press(key);
    await value.getByText("deep:").waitFor();
    await page.keyboard.press("ArrowDown");
    await value.getByText("/items/1/a~1b~0c/deep", { exact: true }).waitFor();
    await expectSound(tab);
    for (const key of ["Shift+Tab", "Shift+Tab", "Enter"]) await page.keyboard.press(key);
    await soon(copied).toBe("/items/1/a~1b~0c/deep");
    await value.getByText("0:").click();
    await value.getByText("1", { exact: true }).click();
    await path.click();
    await soon(copied).toBe(`/items/0/${HOSTILE.replaceAll("/", "~1")}`);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("keeps statements under names, whatever else is stored there", async () => {
    const tab = await ui.open("sql");
    const { page } = tab;
    const views = page.getByRole("group", { name: "Views" });
    await editor(page).fill("SELECT 7 AS seven");
    await page.getByRole("button", { name: "Views" }).focus();
    await page.keyboard.press("Enter");
    await views.getByRole("textbox", { name: "Name of this view" }).fill(HOSTILE);
    await page.keyboard.press("Enter");
    await views.getByRole("button", { name: `Forget ${HOSTILE}` }).waitFor();
    await expectSound(tab);
    await page.reload();
    await page.getByRole("button", { name: "Views" }).click();
    await views.getByText(HOSTILE).click();
    await page.getByRole("cell", { name: "7", exact: true }).waitFor();
    expect(await editor(page).inputValue()).toBe("SELECT 7 AS seven");
    expect(new URL(page.url()).searchParams.get("q")).toBe("SELECT 7 AS seven");
    await page.getByRole("button", { name: "Views" }).click();
    await views.getByRole("button", { name: `Forget ${HOSTILE}` }).click();
    await soon(() => views.getByRole("listitem").count()).toBe(0);
    for (const wrong of ["{", '"text"', '{"a":1}', '[null,1,{"name":3},{"name":"only"}]']) {
      await page.evaluate((text) => localStorage.setItem("perdure.queries", text), wrong);
      await page.reload();
      await page.getByRole("cell", { name: "7", exact: true }).waitFor();
      await page.getByRole("button", { name: "Views" }).click();
      expect(await views.getByRole("listitem").count()).toBe(0);
    }
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says where a statement is wrong, and starts from tables and ready-made ones", async () => {
    const tab = await ui.open(asking("SELECT nothing FROM state"), { allowed: [400, 500] });
    const { page } = tab;
    await page.getByRole("alert").getByText(NO_COLUMN).waitFor();
    await expectSound(tab);
    await page.getByRole("combobox", { name: "Ready-made statements" })
      .selectOption("Largest values of state");
    await page.getByRole("button", { name: /^Run/ }).click();
    await result(page).getByText(/^1 row · /).waitFor();
    await page.getByRole("searchbox", { name: "Find a table or column" }).fill("value_utf8");
    await editor(page).fill("SELECT ");
    await page.getByRole("button", { name: "value_utf8", exact: true }).click();
    await soon(() => editor(page).inputValue()).toBe("SELECT value_utf8");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows text of users as text, and a row as a whole", async () => {
    const tab = await ui.open(asking("SELECT service_key, key, value_utf8 FROM state"));
    const { page } = tab;
    await page.getByRole("row", { name: /<img src=x/ }).first().focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Row 1" });
    await dialog.getByText(HOSTILE).first().waitFor();
    await dialog.getByText("{1}").click();
    await dialog.getByRole("button", { name: /characters more/ }).waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("keeps rows beyond the view out of the document, and their height in it", async () => {
    const many = `SELECT a.column_name FROM information_schema.columns a
      CROSS JOIN information_schema.columns b LIMIT ${ROWS}`;
    const tab = await ui.open(asking(many));
    const { page } = tab;
    await result(page).getByText(`${ROWS} rows`).waitFor();
    const size = () =>
      page.evaluate(() => [
        document.documentElement.scrollHeight,
        document.querySelectorAll("*").length,
      ]);
    const [height = 0, nodes = 0] = await size();
    expect(height).toBeGreaterThan(ROWS * 32);
    expect(nodes).toBeLessThan(NODES_MAX);
    await page.keyboard.press("End");
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await page.getByRole("button", { name: String(ROWS), exact: true }).waitFor();
    // Pixels are rounded; a row that is lost would be 32.
    expect(Math.abs(((await size())[0] ?? 0) - height)).toBeLessThan(16);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says that a server has none", async () => {
    const tab = await ui.open("settings", { allowed: [404] });
    const { page } = tab;
    await page.context().route("**/query", (route) => route.fulfill({ status: 404, body: "" }));
    await page.getByRole("link", { name: "SQL" }).click();
    await page.getByText("This server answers no SQL").waitFor();
    await expectSound(tab);
    await tab.close();
  });
});
