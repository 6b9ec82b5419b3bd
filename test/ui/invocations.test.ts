import { describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { call, query, send } from "../support/client.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** The reference has no column that says why. */
const WAITS = isReference
  ? /pending .*Counter\/add held .*waits for its turn/
  : /pending .*Counter\/add held.*lock of Counter\/held/;
/** For hundreds that are killed, on a machine that is busy. */
const KILLED_MS = 60_000;
/** Of a page, beyond the first one: over the wire, without its data. */
const CHUNK_BYTES = 25 * 1024;

describe.skipIf(!hasBrowser)("the list of invocations", () => {
  const matching = (filter: string) => `invocations?${new URLSearchParams({ filter })}`;

  const ui = useUi(async ({ server, endpoint }) => {
    await call(server, "Greeter/greet", "Ada");
    await call(server, "Greeter/refuse", "card <b>declined</b> 'twice'");
    await send(server, "Counter/held/hold", "holds");
    await endpoint.happens("holds hold");
    for (let i = 0; i < 3; i++) await send(server, "Counter/held/add", 1);
    for (const id of ["one", "two", "three"]) await send(server, "Fragile/pauses", id);
    await send(server, "Greeter/flaky", { id: "never", failures: 1e6 });
    await until("three to be paused", async () => {
      const rows = await query(server, "SELECT id FROM sys_invocation WHERE status = 'paused'");
      return rows.length === 3;
    });
  });

  test("says where each stands and why it waits, and counts them", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /failed .*Greeter\/refuse.*\[418\] card <b>declined<\/b>/ })
      .waitFor();
    await page.getByRole("row", { name: WAITS })
      .first()
      .waitFor();
    const status = page.getByRole("group", { name: "Status" });
    await status.getByRole("button", { name: "paused 3" }).waitFor();
    await status.getByRole("button", { name: "all 10" }).waitFor();
    const chunk = () => tab.requests.find(({ url }) => /assets\/invocations-/.test(url));
    await until("its chunk to be measured", async () => chunk() !== undefined);
    expect(chunk()?.bytes).toBeLessThanOrEqual(CHUNK_BYTES);
    await expectSound(tab);
    await tab.close();
  });

  test("filters by what is typed, which is in the address, and says what means nothing", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /Greeter\/greet/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(`error:"'twice'" status:failed,nonsense`);
    await page.keyboard.press("Enter");
    await page.getByText("no status").waitFor();
    await page.getByRole("button", { name: "Remove status:failed,nonsense" }).click();
    await page.getByRole("row", { name: /Greeter\/refuse/ }).waitFor();
    await page.getByRole("row", { name: /Greeter\/greet/ }).waitFor({ state: "detached" });
    expect(new URL(page.url()).searchParams.get("filter")).toBe(`error:"'twice'"`);
    await page.reload();
    await page.getByRole("row", { name: /Greeter\/refuse/ }).waitFor();
    await soon(() => page.getByRole("row").count()).toBe(2);
    await tab.page.goto(ui.at(matching("key:held -status:running")));
    await page.getByRole("row", { name: /pending/ }).nth(2).waitFor();
    await soon(() => page.getByRole("row").count()).toBe(4);
    await tab.page.goto(ui.at(matching("nothing-is-called-so")));
    await page.getByRole("button", { name: "Remove the filter" }).click();
    await page.getByRole("row", { name: /Greeter\/greet/ }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("is walked by keys alone: move, peek, open", async () => {
    const tab = await ui.open(matching("service:Counter"));
    const { page } = tab;
    await page.getByRole("row", { name: /Counter\/hold/ }).waitFor();
    for (const key of ["j", "x", "j", "j", "Shift+X"]) await page.keyboard.press(key);
    await page.getByText("3 selected").waitFor();
    await page.getByRole("button", { name: "Select none" }).click();
    await page.getByRole("row", { name: /Counter\/hold/ }).focus();
    await page.keyboard.press("Space");
    const peek = page.getByRole("complementary", { name: "Selected invocation" });
    await peek.getByText("Counter/held/hold").waitFor();
    await peek.getByText("Input").waitFor();
    await expectSound(tab);
    await page.reload();
    await peek.getByText("Counter/held/hold").waitFor();
    await peek.getByRole("button", { name: "Close" }).click();
    await peek.waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("has what can be done to a row under the pointer and by keys, and takes a pause back", async () => {
    await send(ui.server, "Greeter/hang", "row");
    await ui.endpoint.happens("row hang");
    const tab = await ui.open(matching("handler:hang"));
    const { page } = tab;
    const row = page.getByRole("row", { name: /Greeter\/hang/ });
    await row.hover();
    await row.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Pause: done").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Resume: done").waitFor();
    await expectSound(tab);
    // Of a batch as well.
    for (const key of ["j", "x", "p"]) await page.keyboard.press(key);
    const many = page.getByRole("dialog", { name: "Pause 1 invocation" });
    await many.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Pause: done for 1").waitFor();
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByText("Resume: done to 1 of 1").waitFor();
    for (const key of ["j", "c"]) await page.keyboard.press(key);
    const question = page.getByRole("dialog", { name: "Cancel Greeter/hang" });
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancel: done").waitFor();
    // Not before: one that has ended by then cannot be cancelled.
    ui.endpoint.release("row");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("keeps views under names, and shows the columns that are chosen", async () => {
    const tab = await ui.open(`${matching("service:Fragile")}&order=oldest`);
    const { page } = tab;
    await page.getByRole("row", { name: /Fragile/ }).first().waitFor();
    await page.getByRole("button", { name: "Views" }).focus();
    await page.keyboard.press("Enter");
    const views = page.getByRole("group", { name: "Views" });
    await views.getByLabel("Name of this view").fill("<b>fragile</b>");
    await page.keyboard.press("Enter");
    await views.getByRole("link", { name: "<b>fragile</b>" }).waitFor();
    await expectSound(tab);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("group", { name: "Columns" }).getByLabel("Key").uncheck();
    await page.getByRole("columnheader", { name: "Key" }).waitFor({ state: "detached" });
    await expectSound(tab);
    await page.goto(ui.at("invocations"));
    await page.getByRole("columnheader", { name: "Target" }).waitFor();
    expect(await page.getByRole("columnheader", { name: "Key" }).count()).toBe(0);
    await page.getByRole("button", { name: "Views" }).click();
    await views.getByRole("link", { name: "<b>fragile</b>" }).click();
    await page.waitForURL(/filter=service%3AFragile&order=oldest/);
    await page.getByRole("row", { name: /Greeter/ }).first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Views" }).click();
    await views.getByRole("button", { name: "Forget <b>fragile</b>" }).click();
    await views.getByRole("link").waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("names new ones, and shows them when it is asked to", async () => {
    const tab = await ui.open(matching("handler:note"));
    const { page } = tab;
    await page.getByText("No invocation matches").waitFor();
    const first = idOf(await send(ui.server, "Greeter/note", "first"));
    // Pausing and going on asks at once, so that the test need not wait for two polls.
    await page.getByRole("button", { name: /live/ }).click();
    await page.getByRole("button", { name: /paused/ }).click();
    await page.getByRole("link", { name: `${first.slice(0, 10)}` }).waitFor();
    const second = idOf(await send(ui.server, "Greeter/note", "second"));
    await page.getByRole("button", { name: "1 new" }).click();
    await page.locator(`a[title="${second}"]`).waitFor();
    await soon(() => page.getByRole("row").count()).toBe(3);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("kills nothing before it is known how many that are", async () => {
    const tab = await ui.open(matching("service:Counter"), { allowed: [503] });
    const { page } = tab;
    await page.getByRole("row", { name: /pending/ }).first().waitFor();
    let isRefused = true;
    await page.route("**/query", (route) => {
      const isCount = /^\{"query":"SELECT count\(\*\) AS n FROM sys_invocation WHERE/
        .test(route.request().postData() ?? "");
      return isCount && isRefused
        ? route.fulfill({ status: 503, body: '{"message":"busy"}' })
        : route.continue();
    });
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Shift+K");
    const question = page.getByRole("dialog");
    await question.getByRole("alert").getByText("busy").waitFor();
    const kill = question.getByRole("button", { name: "Kill" });
    await soon(() => kill.isDisabled()).toBe(true);
    isRefused = false;
    await question.getByRole("button", { name: "Ask again" }).click();
    await question.getByRole("heading", { name: "Kill 1 invocation" }).waitFor();
    await soon(() => kill.isDisabled()).toBe(false);
    await tab.close();
  });

  test("does a command to the selected ones, and names exactly what it hits", async () => {
    const tab = await ui.open(matching("service:Fragile"));
    const { page } = tab;
    await page.getByRole("row", { name: /paused/ }).nth(2).waitFor();
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
    const bar = page.getByRole("region", { name: "What is selected" });
    await bar.getByText("2 selected").waitFor();
    await bar.getByText("service:Fragile").waitFor();
    for (const id of ["one", "two", "three"]) ui.endpoint.release(id);
    await page.keyboard.press("r");
    const question = page.getByRole("dialog", { name: "Resume 2 invocations" });
    await question.getByText(/Of the 2 that are selected/).waitFor();
    await expectSound(tab);
    await question.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Resume: done for 2").waitFor();
    await page.getByRole("row", { name: /succeeded/ }).nth(1).waitFor();
    await page.getByLabel("Select all that are loaded").check();
    await bar.getByLabel(/Everything that matches/).check();
    await bar.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog", { name: "Resume 1 invocation" })
      .getByRole("button", { name: "Resume" }).click();
    await page.getByText("Resume: done for 1").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser)("a long list of invocations", () => {
  const COUNT = 350;
  const NODES_MAX = 1_500;
  /** At 1440 by 900. */
  const [HEADER_PX, ROWS_SEEN] = [48, 22];

  const ui = useUi(async ({ server }) => {
    const numbers = Array.from({ length: COUNT }, (_, i) => i);
    const key = (i: number) => `Counter/k${i}/add`;
    await Promise.all(numbers.map((i) => send(server, key(i), 1, { query: "delay=1h" })));
  });

  test("is read page by page as one scrolls, and few of its rows are in the document", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /scheduled/ }).first().waitFor();
    const table = page.getByRole("table");
    for (let pages = 2; pages <= 4; pages++) {
      await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
      const rows = Math.min(pages * 100, COUNT);
      await page.locator(`table[aria-rowcount="${rows + 1}"]`).waitFor();
    }
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    await table.locator(`tr[aria-rowindex="${COUNT + 1}"]`).waitFor();
    const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
    expect(nodes).toBeLessThan(NODES_MAX);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows a header of one line and many rows, and few comfortable ones", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /scheduled/ }).first().waitFor();
    const header = await page.getByRole("banner").boundingBox();
    expect(header?.height).toBeLessThanOrEqual(HEADER_PX);
    const rowCount = () =>
      page.locator("tbody tr[aria-rowindex]").evaluateAll((rows) =>
        rows.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length
      );
    expect(await rowCount()).toBeGreaterThanOrEqual(ROWS_SEEN);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("rows: comf");
    await page.getByRole("option", { name: /^Rows: comfortable/ }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(rowCount).toBeLessThan(ROWS_SEEN);
    await expectSound(tab);
    await tab.close();
  });

  test("kills many only after their number was typed", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /scheduled/ }).first().waitFor();
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByLabel(/^Everything that matches/).check();
    await page.keyboard.press("Shift+K");
    const question = page.getByRole("dialog", { name: `Kill ${COUNT} invocations` });
    const kill = question.getByRole("button", { name: "Kill" });
    await kill.waitFor();
    await soon(() => kill.isDisabled()).toBe(true);
    await question.getByLabel(`Type “${COUNT}” to confirm`).fill(String(COUNT));
    await expectSound(tab);
    await kill.click();
    await page.getByText(`Kill: done for ${COUNT}`).waitFor();
    // What had not begun leaves nothing behind.
    await page.getByText("There are no invocations yet.").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  }, KILLED_MS);
});
