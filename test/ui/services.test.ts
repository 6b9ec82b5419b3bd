import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { call, register, send } from "../support/client.ts";
import type { Endpoint } from "../support/endpoint.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { startShop } from "./_shop.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const CALLS = 8;

/** A cell of a row by the title of its column. */
async function cell(page: Page, row: RegExp, title: string): Promise<string> {
  const table = page.getByRole("table").filter({ has: page.getByRole("row", { name: row }) });
  const titles = await table.getByRole("columnheader").allTextContents();
  const cells = page.getByRole("row", { name: row }).locator("th, td");
  return await cells.nth(titles.indexOf(title)).innerText();
}

/** What only this project's server can do: the reference has neither limits nor pauses of services. */
const CONTROLS = [
  { rate: { count: 100, period: "1m", burst: 20 } },
  { paused: true },
  { paused: false },
];

async function limitService(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Edit Concurrency" }).click();
  await page.getByRole("textbox", { name: "Concurrency" }).fill("7");
  await page.keyboard.press("Enter");
  await page.getByText("changed; default unlimited").waitFor();
}

/** Changes the rate of a handler, beside the limits of its service. */
async function limitOrder(page: Page): Promise<void> {
  await page.getByText("Limits of handlers").click();
  const order = page.getByRole("region", { name: "Limits of order" });
  await order.getByRole("button", { name: "Edit Rate" }).click();
  await order.getByRole("textbox", { name: "Rate" }).fill("100/1m burst 20");
  await page.keyboard.press("Enter");
  await order.getByText("100/1m burst 20").waitFor();
}

describe.skipIf(!hasBrowser)("services", () => {
  let shop: Endpoint;

  const ui = useUi(async ({ server }) => {
    shop = await startShop(2);
    await register(server, shop);
    for (let at = 0; at < CALLS; at++) await call(server, "Shop/order", { at });
    await call(server, "Shop/fail", "<img src=x>");
    await send(server, "Shop/hold");
  });
  afterAll(() => shop?.close());

  test("are listed with what they do now, and opened by keyboard", async () => {
    const tab = await ui.open("services");
    const { page } = tab;
    const row = /^Shop service/;
    await page.getByRole("row", { name: row }).getByRole("link", { name: "1", exact: true })
      .first().waitFor();
    await expect.poll(() => cell(page, row, "Running")).toBe("1");
    await expect.poll(() => cell(page, row, "Failed 1 h")).toBe("1");
    expect(await cell(page, row, "p95")).toMatch(/ m?s$/);
    await expectSound(tab);
    await page.getByRole("row", { name: row }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Shop" }).waitFor();
    await tab.close();
  });

  test("show their handlers, durations and throughput, as tables as well", async () => {
    const tab = await ui.open("services/Shop");
    const { page } = tab;
    await page.getByRole("row", { name: /order/ }).first().waitFor();
    expect(await cell(page, /order/, "Input")).toBe("JSON 'Order'");
    expect(await cell(page, /order/, "Own options")).toBe("inactivity 5s, attempts 7");
    await page.getByRole("img", { name: /^Ended per .*: 9 invocations/ }).waitFor();
    await page.getByText("Ended per 1 m as a table").click();
    const twin = page.getByRole("table").filter({ hasText: "of them failed" });
    const counts = await twin.locator("tbody td:nth-child(2)").allTextContents();
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(CALLS + 1);
    for (
      const [label, range] of [["Last day", "day"], ["All that is kept", "retention"]] as const
    ) {
      await page.getByLabel(label).check();
      await soon(async () => new URL(page.url()).searchParams.get("range")).toBe(range);
      for (const title of ["Ended per", "From call to result"]) {
        await page.getByRole("img", { name: new RegExp(`^${title}.*: 9 invocations`) }).waitFor();
      }
    }
    await expectSound(tab);
    await tab.close();
  });

  test("say which options were changed, and send only what is edited", async () => {
    const tab = await ui.open("services/Shop", { allowed: [400, 422] });
    const { page } = tab;
    const bodies: unknown[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") bodies.push(request.postDataJSON());
    });
    await page.getByRole("button", { name: "Edit Journals" }).click();
    await page.getByRole("textbox", { name: "Journals" }).fill("2 fortnights");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await page.getByRole("textbox", { name: "Journals" }).fill("2h");
    await page.keyboard.press("Enter");
    await page.getByText("changed; default 1d").waitFor();
    if (!isReference) await limitService(page);
    await page.getByRole("button", { name: "Edit Access" }).click();
    await page.getByRole("combobox", { name: "Access" }).selectOption("private");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("changed; default public").waitFor();
    if (!isReference) {
      await limitOrder(page);
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByRole("button", { name: "Resume" }).click();
      await page.getByRole("button", { name: "Pause" }).waitFor();
    }
    expect(bodies).toEqual([
      { journal_retention: "2 fortnights" },
      { journal_retention: "2h" },
      ...isReference ? [] : [{ concurrency: 7 }],
      { public: false },
      ...isReference ? [] : CONTROLS,
    ]);
    await expectSound(tab);
    await tab.close();
  });

  test("send the token for their OpenAPI document, where there is one", async () => {
    const tab = await ui.open("services");
    const { page } = tab;
    await page.evaluate(() => sessionStorage.setItem("perdure.token", "secret"));
    await page.goto(ui.at("services/Shop"));
    const asked = page.waitForRequest(/\/services\/Shop\/openapi$/);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save OpenAPI" }).click();
    expect((await asked).headers()["authorization"]).toBe("Bearer secret");
    expect((await saved).suggestedFilename()).toBe("Shop.openapi.json");
    await expectSound(tab);
    await tab.close();
  });

  test("show their revisions, and that one does not exist", async () => {
    const tab = await ui.open("services/Shop");
    const { page } = tab;
    await page.getByRole("row", { name: /new invocations/ }).waitFor();
    await soon(() => page.getByRole("link", { name: "OpenAPI" }).getAttribute("href"))
      .toBe(`${ui.server.admin}/services/Shop/openapi`);
    expect(tab.wrong).toEqual([]);
    await tab.close();
    const lost = await ui.open("services/No%2Esuch", { allowed: [404] });
    await lost.page.getByText("There is no service No.such").waitFor();
    await expectSound(lost);
    await lost.close();
  });
});
