import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { register } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { startShop } from "./_shop.ts";
import { expectSound } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** Asserts that no text, attribute or field of the page has a value of a header. */
async function expectHidden(page: Page): Promise<void> {
  const fields = await page.getByRole("textbox").evaluateAll((all) =>
    all.map((one) => (one as HTMLInputElement).value)
  );
  expect(`${await page.content()} ${fields.join(" ")}`).not.toContain("the-value-of");
}

const isRecord = ({ pathname }: URL) => /^\/deployments\/dp_\w+$/.test(pathname);

/** Has a page see headers as the server shows them to operators. Answers those of updates, as they are sent. */
async function asOperator(page: Page): Promise<unknown[]> {
  const sent: unknown[] = [];
  await page.route(isRecord, async (route) => {
    if (route.request().method() === "PATCH") {
      sent.push(route.request().postDataJSON().additional_headers);
      return await route.continue();
    }
    const response = await route.fetch();
    const headers = { "x-key": "***", "x-team": "***" };
    const json = { ...await response.json() as object, additional_headers: headers };
    await route.fulfill({ response, json });
  });
  return sent;
}

describe.skipIf(!hasBrowser)("headers of deployments", () => {
  const ui = useUi(async () => {}, { isRegistered: false });

  test("say where the server takes a header from, and keep that in an update", async () => {
    const other = await startShop(1);
    await register(ui.server, other);
    const tab = await ui.open("deployments");
    const { page } = tab;
    const sent: Record<string, unknown>[] = [];
    await page.route(/\/deployments\/dp_\w+$/, async (route) => {
      if (route.request().method() === "PATCH") {
        const body = route.request().postDataJSON() as { additional_headers: object };
        sent.push({ ...body.additional_headers });
        return await route.continue({
          postData: JSON.stringify({ ...body, additional_headers: {} }),
        });
      }
      const response = await route.fetch();
      const headers = { authorization: { env: "SHOP_TOKEN" }, "x-key": { env: "SHOP_KEY" } };
      const json = { ...await response.json() as object, additional_headers: headers };
      await route.fulfill({ response, json });
    });
    try {
      await page.getByRole("link", { name: new URL(other.url).host }).click();
      await page.getByText("authorization: from SHOP_TOKEN").waitFor();
      await page.getByRole("button", { name: "Update…" }).click();
      const kept = page.getByRole("list", { name: "Headers that are kept" });
      await kept.getByText("from SHOP_KEY").waitFor();
      await expectSound(tab);
      await kept.getByRole("button", { name: "Remove x-key" }).click();
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByRole("button", { name: "Update", exact: true }).waitFor();
      expect(sent).toEqual([{ authorization: { env: "SHOP_TOKEN" } }]);
      expect(tab.wrong).toEqual([]);
    } finally {
      await tab.close();
      await other.close();
    }
  });

  test.skipIf(isReference)(
    "send headers only when they change, and no value that was not shown",
    async () => {
      const other = await startShop(1);
      const secrets = { "x-key": "the-value-of-a-key", "x-team": "the-value-of-a-team" };
      const { body } = await register(ui.server, other, { additional_headers: secrets });
      const { id } = body as { readonly id: string };
      const tab = await ui.open(`deployments/${id}`);
      const { page } = tab;
      const sent = await asOperator(page);
      const update = async () => {
        await page.getByRole("button", { name: "Check" }).click();
        await page.getByRole("button", { name: "Update", exact: true }).click();
        await page.getByText(`Updated ${id}`).waitFor();
      };
      const stored = async () =>
        (await (await fetch(`${ui.server.admin}/deployments/${id}`)).json()).additional_headers;
      try {
        await page.reload();
        await page.getByRole("button", { name: "Update…" }).click();
        await page.getByRole("list", { name: "Headers that are kept" }).waitFor();
        await update();
        expect([sent.splice(0), await stored()]).toEqual([[undefined, undefined], secrets]);
        await page.reload();
        await page.getByRole("button", { name: "Update…" }).click();
        await page.getByRole("button", { name: "Remove x-team" }).click();
        await update();
        const kept = { "x-key": "***" };
        expect([sent, await stored()]).toEqual([[kept, kept], { "x-key": secrets["x-key"] }]);
        expect(tab.wrong).toEqual([]);
      } finally {
        await tab.close();
        await other.close();
      }
    },
  );

  test("show names of headers only, and keep in an update what nobody sees", async () => {
    const other = await startShop(1);
    const secrets = { "x-key": "the-value-of-a-key", "X-Team": "the-value-of-a-team" };
    const { body } = await register(ui.server, other, { additional_headers: secrets });
    const { id } = body as { readonly id: string };
    const tab = await ui.open(`deployments/${id}`);
    const { page } = tab;
    try {
      await page.getByText("x-key: ***").waitFor();
      await page.getByText("x-team: ***").waitFor();
      await expectHidden(page);
      await page.getByRole("button", { name: "Update…" }).click();
      const kept = page.getByRole("list", { name: "Headers that are kept" });
      await kept.getByText("x-key: ***").waitFor();
      await page.getByText("Values are not shown.").waitFor();
      await expectHidden(page);
      await expectSound(tab);
      await page.getByRole("button", { name: "Add one" }).click();
      await page.getByLabel("Headers of every request to it: name 1").fill("X-TEAM");
      await page.getByLabel("Headers of every request to it: value 1").fill("other");
      await page.getByRole("button", { name: "Check" }).click();
      await page.getByRole("button", { name: "Update", exact: true }).waitFor();
      await expectHidden(page);
      await page.getByRole("button", { name: "Update", exact: true }).click();
      await page.getByText(`Updated ${id}`).waitFor();
      await expectHidden(page);
      expect(await (await fetch(`${ui.server.admin}/deployments/${id}`)).json()).toMatchObject({
        additional_headers: { "x-key": "the-value-of-a-key", "x-team": "other" },
      });
      expect(tab.wrong).toEqual([]);
    } finally {
      await tab.close();
      await other.close();
    }
  });
});
