import { execFileSync } from "node:child_process";
import { transform } from "esbuild";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { register } from "../support/client.ts";
import type { Endpoint } from "../support/endpoint.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { startShop } from "./_shop.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** Markup, marks of direction, quotes of every kind, and control characters. */
const HOSTILE = `<img src=x onerror="alert(1)">'"\`\\ \u202egnp.exe $(id) &amp; \u0007`;
const CLIPBOARD = ["clipboard-read", "clipboard-write"];

describe.skipIf(!hasBrowser)("the playground", () => {
  let shop: Endpoint;

  const ui = useUi(async ({ server }) => {
    shop = await startShop(2);
    await register(server, shop);
  });
  afterAll(() => shop?.close());

  const playground = (page: Page) => page.getByRole("region", { name: "Playground" });
  const answer = (page: Page) => page.getByRole("region", { name: "Answer" });
  /** Its URL is on a line, or on a few. */
  const isReadable = async (page: Page) => {
    const target = page.getByText(/^POST http/);
    const size = await target.boundingBox();
    expect(size?.height).toBeLessThan(100);
  };
  const copied = (page: Page) => page.evaluate(() => navigator.clipboard.readText());

  test("fills the form of a schema and shows what comes back", async () => {
    const tab = await ui.open("services/Shop?call=order", {
      permissions: CLIPBOARD,
    });
    const { page } = tab;
    await isReadable(page);
    await page.getByRole("textbox", { name: "name" }).fill(HOSTILE);
    await page.getByRole("button", { name: "Add to items" }).click();
    await page.getByRole("textbox", { name: "sku" }).fill("9");
    await page.getByRole("combobox", { name: "size" }).selectOption("M");
    await page.getByRole("checkbox", { name: "isGift" }).check();
    await page.getByRole("spinbutton", { name: "discount" }).fill("0.5");
    await page.getByRole("button", { name: "Edit as JSON" }).click();
    const body = await page.getByRole("textbox", { name: "Input (application/json)" })
      .inputValue();
    const expected = {
      ...{ customer: { name: HOSTILE }, items: [{ sku: "9", count: 1, size: "M" }] },
      ...{ isGift: true, discount: 0.5 },
    };
    expect(JSON.parse(body)).toEqual(expected);
    await page.getByRole("button", { name: "Edit as a form" }).click();
    await page.getByRole("button", { name: "Copy as curl" }).click();
    const curl = await copied(page);
    expect(JSON.parse(execFileSync("sh", ["-c", `${curl} -s`], { encoding: "utf8" })))
      .toEqual(expected);
    await page.getByRole("button", { name: "Copy as TypeScript" }).click();
    const code = await copied(page);
    expect(code).toContain('ingress.serviceClient({ name: "Shop" }).order(');
    await transform(code, { loader: "ts", format: "esm" });
    await playground(page).getByRole("button", { name: "Call", exact: true }).click();
    await answer(page).getByRole("status").getByText("200").waitFor();
    await answer(page).getByText("customer:").click();
    await soon(() => answer(page).getByText("<img src=x").count()).toBe(1);
    await expectSound(tab);
    // A header that the reference lets no page read.
    if (!isReference) await answer(page).getByRole("link", { name: /^inv_/ }).waitFor();
    await tab.close();
  });

  test("sends later, with a key, an idempotency key and headers", async () => {
    const tab = await ui.open("services/Cart?call=add", {
      permissions: CLIPBOARD,
    });
    const { page } = tab;
    await page.getByRole("combobox", { name: "How" }).selectOption("send");
    await page.getByLabel("Key of the object").fill("a/b ?ü.");
    await page.getByLabel("Delay").fill("1h");
    await page.getByRole("textbox", { name: /^Input/ }).fill('"sku"');
    await page.getByText("Idempotency key and headers").click();
    await page.getByLabel("Idempotency key", { exact: true }).fill("once");
    await page.getByRole("button", { name: "Add one" }).click();
    await page.getByLabel("Headers: name 1").fill("x-team");
    await page.getByLabel("Headers: value 1").fill("shop");
    await page.keyboard.press("Enter");
    await answer(page).getByRole("status").getByText("202").waitFor();
    const id = await answer(page).getByRole("link", { name: /^inv_/ }).getAttribute("title");
    const sent = await fetch(`${ui.server.admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({
        query: `SELECT target_service_key AS key, idempotency_key AS once, status
          FROM sys_invocation WHERE id = '${id}'`,
      }),
    });
    expect(await sent.json()).toEqual({
      rows: [{ key: "a/b ?ü.", once: "once", status: "scheduled" }],
    });
    await page.getByRole("button", { name: "Copy as TypeScript" }).click();
    expect(await copied(page)).toContain(
      `.objectSendClient({ name: "Cart" }, "a/b ?ü.").add("sku", clients.SendOpts.from({ ` +
        `idempotencyKey: "once", headers: {"x-team":"shop"}, delay: { hours: 1 } }));`,
    );
    await expectSound(tab);
    await tab.close();
  });

  test("says that no browser can send a key of dots", async () => {
    const tab = await ui.open("services/Cart?call=list");
    const { page } = tab;
    const key = page.getByLabel("Key of the object");
    await key.fill("..");
    await page.getByRole("note").getByText("No browser sends the key “..”").waitFor();
    await soon(() => page.getByRole("button", { name: "Call", exact: true }).isDisabled()).toBe(
      true,
    );
    await key.fill("...");
    await page.getByText("POST ").getByText("/Cart/.../list").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("keeps calls in the browser, and makes them again by keyboard", async () => {
    const tab = await ui.open("services/Shop?call=fail", { allowed: [418] });
    const { page } = tab;
    await page.getByRole("textbox", { name: /^Input/ }).fill(JSON.stringify(HOSTILE));
    await playground(page).getByRole("button", { name: "Call", exact: true }).click();
    await answer(page).getByRole("status").getByText("418").waitFor();
    await expectSound(tab);
    await page.reload();
    await page.getByText("Earlier calls (1)").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await soon(() => page.getByRole("textbox", { name: /^Input/ }).inputValue())
      .toBe(JSON.stringify(HOSTILE));
    await page.getByRole("button", { name: "Forget all" }).click();
    await page.getByText("Earlier calls").waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows large and deep answers, and text that is no JSON", async () => {
    const tab = await ui.open("services/Greeter?call=greet");
    const { page } = tab;
    const input = page.getByRole("textbox", { name: /^Input/ });
    const call = async (body: string) => {
      await input.fill(body);
      await playground(page).getByRole("button", { name: "Call", exact: true }).click();
    };
    await call(JSON.stringify("x".repeat(1_000_000)));
    await answer(page).getByRole("button", { name: /characters more/ }).waitFor();
    await page.getByRole("combobox", { name: "Handler" }).selectOption("bytes");
    await call(`${"[".repeat(5_000)}"deep"${"]".repeat(5_000)}`);
    await answer(page).getByText("[1]").first().waitFor();
    await call(HOSTILE);
    await answer(page).getByText("<img src=x").waitFor();
    await expectSound(tab);
    await tab.close();
  });
});
