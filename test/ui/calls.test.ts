import path from "node:path";
import { describe, expect, test } from "vitest";
import { partitionOfId } from "../../src/model/ring.ts";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const PARTITIONS = 4;
const TREE = {
  script: path.join(import.meta.dirname, "_tree.mjs"),
  settings: { DEFAULT_NUM_PARTITIONS: String(PARTITIONS) },
};
/** For thousands of invocations, on a machine that is busy. */
const SOWN_MS = 60_000;
/** More than a page can hold as elements. */
const SOWN = 1_200;
const NODES_MAX = 1_500;

describe.skipIf(!hasBrowser)("the call tree of an invocation", () => {
  const ui = useUi(undefined, TREE);
  const start = async (path: string, input: unknown) => idOf(await send(ui.server, path, input));
  const count = async (condition: string) =>
    Number(
      (await query(
        ui.server,
        `SELECT count(*) AS n FROM sys_invocation_status WHERE ${condition}`,
      ))[0]?.["n"],
    );
  const ends = (id: string) =>
    until(`${id} to end`, async () => await count(`id = '${id}' AND status = 'completed'`) === 1);

  test("shows calls of calls with what became of each, and leads to them", async () => {
    const id = await start("Tree/grow", { wide: [2, 3], isFailing: true });
    await ends(id);
    const calls = await query(ui.server, "SELECT id FROM sys_invocation_status");
    const partitions = calls.map((row) => partitionOfId(String(row["id"]), PARTITIONS));
    expect(new Set(partitions).size).toBeGreaterThan(1);
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByRole("tab", { name: "Call tree" }).click();
    await soon(async () => new URL(page.url()).searchParams.get("tab")).toBe("calls");
    await page.getByText("9 calls, 1 failed").waitFor();
    await soon(() => page.getByRole("row", { name: /Level 2 Tree\/grow succeeded/ }).count()).toBe(
      6,
    );
    await page.getByRole("row", { name: /Level 1 Tree\/refuse failed .*\[418\] <b>no<\/b>/ })
      .waitFor();
    await soon(() => page.locator("tbody svg.bar").count()).toBe(10);
    await expectSound(tab);
    // By keyboard alone: fold the root's first call, unfold it, and open its last call.
    for (const key of ["j", "j"]) await page.keyboard.press(key);
    await page.locator("tbody tr:nth-child(2):focus").waitFor();
    await page.keyboard.press("ArrowLeft");
    await until("a call to be folded", async () => await page.getByText("Level 2").count() === 3);
    await page.keyboard.press("ArrowRight");
    await until("it to be unfolded", async () => await page.getByText("Level 2").count() === 6);
    await page.keyboard.press("ArrowDown");
    await page.locator("tbody tr:nth-child(3):focus").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.href.includes(id));
    await page.getByRole("heading", { level: 1, name: "Tree/grow" }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /Tree\/refuse/ }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: "Tree/refuse" }).waitFor();
    await page.getByRole("tab", { name: "Call tree" }).click();
    await page.getByText("It has called nothing that is still kept.").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("folds with its buttons, one call or all", async () => {
    const id = await start("Tree/grow", { wide: [1, 2] });
    await ends(id);
    const tab = await ui.open(`invocations/${id}?tab=calls`);
    const { page } = tab;
    const rows = (expected: number) =>
      until(
        `${expected} rows`,
        async () => await page.locator("tbody .tree-call").count() === expected,
      );
    await rows(4);
    await page.getByRole("button", { name: "Calls of Tree/grow" }).nth(1).focus();
    await page.keyboard.press("Enter");
    await rows(2);
    expect(page.url()).toContain(id);
    await page.getByRole("button", { name: "Unfold all" }).click();
    await rows(4);
    await page.getByRole("button", { name: "Fold all" }).click();
    await rows(1);
    await tab.close();
  });

  test("reads a part of thousands of calls, and more of them when they are asked for", async () => {
    const id = await start("Tree/sow", SOWN);
    const open = `invoked_by_id = '${id}' AND status <> 'completed'`;
    await ends(id);
    await until("all sown to end", async () => await count(open) === 0, SOWN_MS);
    const tab = await ui.open(`invocations/${id}?tab=calls`);
    const { page } = tab;
    await page.getByText(`25 calls, ${(SOWN - 25).toLocaleString("en-US")} more not shown`)
      .waitFor();
    await page.getByRole("button", { name: `and ${(SOWN - 25).toLocaleString("en-US")} more` })
      .click();
    await page.getByText(`225 calls, ${SOWN - 225} more not shown`).waitFor();
    // Rows that came meanwhile move the end.
    const clickAtEnd = async (name: string | RegExp) => {
      const more = page.getByRole("button", { name });
      await until("the end of the list", async () => {
        await page.keyboard.press("End");
        return await more.isVisible();
      });
      await more.click();
    };
    for (const shown of [425, 625, 825, 1_000]) {
      await clickAtEnd(/^and .* more$/);
      await page.getByText(`${shown.toLocaleString("en-US")} calls, `).waitFor();
    }
    expect(await page.locator("*").count()).toBeLessThan(NODES_MAX);
    await expectSound(tab);
    // All beyond the bound are in the list.
    await clickAtEnd(`and ${SOWN - 1_000} more`);
    await page.waitForURL(/filter=caller/);
    await tab.close();
  }, SOWN_MS);

  test("grows while something in it runs", async () => {
    const id = await start("Tree/grow", { wide: [1], isWaiting: true });
    const tab = await ui.open(`invocations/${id}?tab=calls`);
    const { page } = tab;
    await page.getByRole("row", { name: /Tree\/waits running .* s so/ }).waitFor();
    await page.getByText("2 calls, 1 open").waitFor();
    ui.endpoint.release("go");
    await page.getByRole("row", { name: /Tree\/waits succeeded/ }).waitFor();
    await page.getByText("2 calls", { exact: true }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says so where a server answers no SQL", async () => {
    const id = await start("Tree/grow", { wide: [1] });
    await ends(id);
    const tab = await ui.open(`invocations/${id}`, { allowed: [404] });
    const { page } = tab;
    await page.getByRole("tab", { name: "Call tree" }).waitFor();
    await page.route("**/query", (route) => route.fulfill({ status: 404, body: "{}" }));
    await page.getByRole("tab", { name: "Call tree" }).click();
    await page.getByText("This server answers no SQL").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
