import { describe, expect, test } from "vitest";
import { manage, send, value } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { BIDI, MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const HOSTILE = `${MARKUP}${BIDI}`;
const path = (key: string) => encodeURIComponent(key).replaceAll(".", "%2E");

/** The reference suspends after a minute of inactivity, and does not say what is awaited. */
const STANDS = isReference ? "running" : "suspended";

describe.skipIf(!hasBrowser)("workflows", () => {
  const ui = useUi(async ({ server, endpoint }) => {
    await send(server, "Flow/w1/run", "w1");
    await value(server, `Flow/${path(HOSTILE)}/reject`, MARKUP);
    await value(server, `Flow/${path(HOSTILE)}/run`, "w2");
    await manage(server, "POST /services/Flow/state", {
      object_key: HOSTILE,
      new_state: { note: MARKUP },
    });
    await endpoint.happens("w1 run");
  });

  test("are listed by their runs, and filtered", async () => {
    const tab = await ui.open("workflows");
    const { page } = tab;
    const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
    await rows.filter({ hasText: "w1" }).getByText(STANDS).waitFor();
    await rows.filter({ hasText: MARKUP }).getByText("succeeded").waitFor();
    await expectSound(tab);
    await page.keyboard.press("/");
    await page.keyboard.type(`status:${STANDS}`);
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: MARKUP }).waitFor({ state: "detached" });
    await page.goto(ui.at(`workflows?${new URLSearchParams({ filter: "state:onerror" })}`));
    await rows.filter({ hasText: MARKUP }).waitFor();
    await soon(() => rows.count()).toBe(2);
    await page.keyboard.press("/");
    await page.keyboard.press("End");
    await page.keyboard.type(` status:${STANDS}`);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Without state:onerror" }).click();
    await page.getByRole("link", { name: "w1" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Workflows / Flow / w1" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("are announced while somebody looks at others", async () => {
    const tab = await ui.open("workflows");
    const { page } = tab;
    const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
    await rows.nth(1).waitFor();
    await send(ui.server, "Flow/later/run", "later");
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await page.getByRole("link", { name: "later" }).count()).toBe(0);
    await page.getByRole("button", { name: "1 new" }).click();
    await rows.nth(1).getByText("later").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("show what they wait for, and how a promise is completed", async () => {
    const tab = await ui.open("workflows/Flow/w1");
    const { page } = tab;
    if (!isReference) await page.getByText(/promise "?go/).waitFor();
    const promise = page.getByRole("region", { name: "Promises" });
    await promise.getByText("waited for").waitFor();
    if (isReference) await promise.getByText("no route that resolves or rejects").waitFor();
    const call = promise.getByRole("link", { name: "resolve" });
    await soon(() => call.getAttribute("href")).toBe("services/Flow?call=resolve&key=w1");
    await expectSound(tab);
    await value(ui.server, "Flow/w1/resolve", { by: MARKUP });
    await promise.getByText("resolved", { exact: true }).waitFor();
    await page.getByText("succeeded").first().waitFor();
    await promise.getByText(MARKUP).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("show a rejection, the state and the interactions of any id as text", async () => {
    const tab = await ui.open(`workflows/Flow/${path(HOSTILE)}`);
    const { page } = tab;
    const promise = page.getByRole("region", { name: "Promises" });
    await promise.getByText("rejected").waitFor();
    await promise.getByText(MARKUP).waitFor();
    await page.getByRole("region", { name: "State" }).getByText(MARKUP).waitFor();
    const row = page.getByRole("table", { name: "Interactions" }).getByRole("row").nth(1);
    await soon(() => row.innerText()).toContain("reject");
    expect(await page.locator("main img, main script").count()).toBe(0);
    await expectSound(tab);
    await tab.close();
  });

  test("are purged to run again, and then there is none", async () => {
    const tab = await ui.open(`workflows/Flow/${path(HOSTILE)}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Purge, to run again…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Purge the run" });
    await dialog.getByRole("button", { name: "Purge", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("No run with this id is stored").waitFor();
    await page.getByText("It has used no promise.").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
