import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { expectSound, SHOWN_MS } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** A wait that is folded, beside steps of some milliseconds. */
const LONG_MS = 1_500;
const SHOWN = { timeout: SHOWN_MS };

describe.skipIf(!hasBrowser)("what the page of an invocation shows has an address", () => {
  let id = "";
  const ui = useUi(async ({ server }) => {
    id = idOf(await send(server, "Greeter/nap", { id: "addressed", ms: LONG_MS }));
    const statement = `SELECT id FROM sys_invocation WHERE id = '${id}' AND status = 'completed'`;
    await until("the nap to end", async () => (await query(server, statement)).length === 1);
  });

  test("the search, the part of the waterfall and its folds, and none fills the history", async () => {
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    const parameter = (name: string) => new URL(page.url()).searchParams.get(name);
    const search = page.getByRole("searchbox", { name: "Find in the journal" });
    const sleep = page.getByRole("row", { name: /sleep\(\)/ });
    await sleep.waitFor();
    const known = await page.evaluate(() => history.length);
    await page.getByText(/, folded: 1\.\d s/).waitFor();
    for (let at = 0; at < 4; at++) await page.keyboard.press("+");
    const part = page.getByRole("status").getByText(/ to .*s$/);
    await part.waitFor();
    // A browser refuses too many changes of the address: it follows when the keys rest.
    await expect.poll(() => parameter("zoom"), SHOWN).toMatch(/^\d+(\.\d+)?-\d+(\.\d+)?$/);
    await page.getByLabel("Fold long waits").uncheck();
    await page.getByText("folded:").waitFor({ state: "detached" });
    await expect.poll(() => parameter("fold"), SHOWN).toBe("no");
    await search.fill("sleep(");
    await page.getByRole("row", { name: /before/ }).waitFor({ state: "detached" });
    await expect.poll(() => parameter("find"), SHOWN).toBe("sleep(");
    const shown = await part.innerText();
    const width = await sleep.locator("rect:not(.fold)").getAttribute("width");
    expect(await page.evaluate(() => history.length)).toBe(known);
    await page.reload();
    await sleep.waitFor();
    await expect.poll(() => search.inputValue(), SHOWN).toBe("sleep(");
    await expect.poll(() => page.getByLabel("Fold long waits").isChecked(), SHOWN).toBe(false);
    await expect.poll(() => part.innerText(), SHOWN).toBe(shown);
    const bar = sleep.locator("rect:not(.fold)");
    await expect.poll(() => bar.getAttribute("width"), SHOWN).toBe(width);
    await expectSound(tab);
    await tab.close();
  });

  test("stays on other tabs, and what is set back is gone from the address", async () => {
    const tab = await ui.open(`invocations/${id}?zoom=0-1000&fold=no&find=s`);
    const { page } = tab;
    const part = page.getByRole("status").getByText(/^0 ms to /);
    await part.waitFor();
    await page.getByRole("tab", { name: "Input and output" }).click();
    await page.getByRole("tab", { name: "Journal" }).click();
    await part.waitFor();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("searchbox", { name: "Find in the journal" }).fill("");
    await page.getByLabel("Fold long waits").check();
    await expect.poll(() => new URL(page.url()).search, SHOWN).toBe("");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("a search that finds nothing is taken back by a button", async () => {
    const tab = await ui.open(`invocations/${id}?find=${encodeURIComponent("<b>no</b>")}`);
    const { page } = tab;
    await page.getByText("No step is like that.").waitFor();
    await expectSound(tab);
    await page.getByRole("button", { name: "Without <b>no</b>" }).click();
    await page.getByRole("row", { name: /before/ }).waitFor();
    await expect.poll(() => new URL(page.url()).search, SHOWN).toBe("");
    await tab.close();
  });

  test("the end of a part that reaches to it moves with it", async () => {
    const nap = idOf(await send(ui.server, "Greeter/nap", { id: "still", ms: 3_600_000 }));
    await ui.endpoint.happens("still asleep");
    const tab = await ui.open(`invocations/${nap}?zoom=1-`);
    const { page } = tab;
    const end = page.getByRole("status").getByText(/^1 ms to /);
    await end.waitFor();
    const first = await end.innerText();
    await expect.poll(() => end.innerText(), SHOWN).not.toBe(first);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("an address that means nothing shows what there is", async () => {
    for (
      const nonsense of [
        "zoom=9-3&fold=maybe&entry=-1",
        "zoom=1e99&fold=&entry=x",
        `zoom=${encodeURIComponent("<b>1-2</b>")}&tab=nowhere&entry=99999999999999999999`,
      ]
    ) {
      const tab = await ui.open(`invocations/${id}?${nonsense}`);
      const { page } = tab;
      await page.getByRole("row", { name: /before/ }).waitFor();
      await page.getByText(/, folded: 1\.\d s/).waitFor();
      await expect.poll(() => page.getByLabel("Fold long waits").isChecked(), SHOWN).toBe(true);
      await page.getByRole("button", { name: "All", exact: true }).waitFor({ state: "detached" });
      expect(tab.wrong).toEqual([]);
      await tab.close();
    }
  });

  test("the slider of time travel, too, and nonsense is the end", async () => {
    const tab = await ui.open(`invocations/${id}?tab=travel&entry=1.5`);
    const { page } = tab;
    const slider = page.getByRole("slider", { name: "Entry of the journal" });
    await expect.poll(() => slider.getAttribute("aria-valuetext"), SHOWN).toMatch(/: return,/);
    await slider.focus();
    await page.keyboard.press("Home");
    await page.waitForURL(/entry=0/);
    // What is left behind does not change the address of another page.
    await page.keyboard.press("End");
    await page.getByRole("link", { name: "Greeter", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Greeter" }).waitFor();
    await page.getByRole("img", { name: /^From call to result/ }).waitFor();
    expect(new URL(page.url()).searchParams.get("entry")).toBeNull();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
