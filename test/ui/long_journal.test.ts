import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { useUi } from "./_ui.ts";

/** Each is a command and its notification. */
const STEPS = 400;
/** Steps with the input and the output. */
const ALL_ROWS = STEPS + 2;

describe.skipIf(!hasBrowser)("a long journal", () => {
  let id = "";
  const ui = useUi(async ({ server }) => {
    id = idOf(await send(server, "Greeter/steps", { id: "long", count: STEPS }));
    await until("the journal", async () => {
      const rows = await query(server, `SELECT status FROM sys_invocation WHERE id = '${id}'`);
      return rows[0]?.["status"] === "completed";
    });
  });

  test("is shown as soon as its first entries are known, and then whole", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    const held: (() => void)[] = [];
    await page.route("**/query", async (route) => {
      const { query: statement = "" } = route.request().postDataJSON() as { query?: string };
      if (/FROM sys_journal\b/.test(statement) && !statement.includes("index < ")) {
        await new Promise<void>((resolve) => held.push(resolve));
      }
      await route.continue();
    });
    await page.goto(ui.at(`invocations/${id}`));
    await page.getByText(/first 300 of 802 entries/).waitFor();
    await page.getByRole("button", { name: "input()" }).waitFor();
    const rowCount = () => page.getByRole("table", { name: "Steps" }).getAttribute("aria-rowcount");
    const first = Number(await rowCount());
    expect(first).toBeLessThan(ALL_ROWS);
    // Their results may be among the others.
    expect(await page.getByText("pending").count()).toBe(0);
    await until("the others to be asked for", () => held.length > 0);
    held.splice(0).forEach((release) => release());
    await page.getByText(/first 300 of/).waitFor({ state: "detached" });
    expect(Number(await rowCount())).toBeGreaterThanOrEqual(ALL_ROWS);
    await page.getByRole("searchbox", { name: "Find in the journal" }).fill("return");
    await page.getByRole("button", { name: "return" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
