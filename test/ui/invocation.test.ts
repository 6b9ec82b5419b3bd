import { describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { call, manage, operate, query, send } from "../support/client.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, SHOWN_MS, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const NEVER_MS = 3_600_000;
/** Of a user who means harm: markup, a script, marks of direction, a quotation mark. */
const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>\u202e'"\u0000`;

describe.skipIf(!hasBrowser)("the page of an invocation", () => {
  const ui = useUi();
  const start = async (path: string, input: unknown) => idOf(await send(ui.server, path, input));
  const statusOf = async (id: string) =>
    (await query(ui.server, `SELECT status FROM sys_invocation WHERE id = '${id}'`))[0]
      ?.["status"];
  const stands = (id: string, status: string) =>
    until(`${id} to be ${status}`, async () => await statusOf(id) === status);

  test("says what it did, step by step, with the values of each", async () => {
    const id = await start("Greeter/callCounter", { key: "k", delta: 40 });
    await stands(id, "completed");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Greeter/callCounter" }).waitFor();
    await page.getByRole("row", { name: /call Counter\/k\/add\(\).*done.*succeeded/ }).waitFor();
    await soon(() => page.locator("tbody svg.bar").count()).toBe(3);
    await page.getByLabel("Fold long waits").uncheck();
    await page.getByText(/ in all/).waitFor();
    await page.getByRole("button", { name: "call Counter/k/add()", exact: true }).click();
    const step = page.getByRole("complementary", { name: "Chosen step" });
    await step.getByText("Command: Call", { exact: true }).waitFor();
    await step.getByText("Notification: Call", { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get("entry")).toBe("1");
    await expectSound(tab);
    await page.getByRole("tab", { name: "Input and output" }).click();
    await page.getByRole("group", { name: "the output" }).getByText("40").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByText("No step is like that.").waitFor();
    for (const text of ["Had no result yet", "Fold all", "Save as a file"]) {
      await page.keyboard.press("ArrowRight");
      await page.getByText(text, { exact: true }).first().waitFor();
    }
    await expectSound(tab);
    await page.goBack();
    await tab.close();
  });

  test("goes from step to step by keys, whatever entries are between them", async () => {
    const id = await start("Greeter/callCounter", { key: "steps", delta: 1 });
    await stands(id, "completed");
    // The id of what is called, which is an entry of its own; its result is the next one.
    const tab = await ui.open(`invocations/${id}?entry=2`);
    const { page } = tab;
    const step = page.getByRole("complementary", { name: "Chosen step" });
    await step.getByText("call Counter/steps/add()").waitFor();
    for (const shown of ["return", "return"]) {
      await page.keyboard.press("]");
      await step.getByText(shown, { exact: true }).waitFor();
    }
    for (const shown of ["call Counter/steps/add()", "input()", "input()"]) {
      await page.keyboard.press("[");
      await step.getByText(shown, { exact: true }).waitFor();
    }
    expect(new URL(page.url()).searchParams.get("entry")).toBe("0");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows the steps of what it called in place, and a part of the line by keys", async () => {
    const id = await start("Greeter/callCounter", { key: "nested", delta: 40 });
    await stands(id, "completed");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    const call = page.getByRole("row", { name: /call Counter\/nested\/add\(\)/ });
    await page.getByRole("button", { name: "Steps of call Counter/nested/add()" }).click();
    const nested = page.getByRole("link", { name: `set("value")` });
    await nested.waitFor();
    await expectSound(tab);
    await call.focus();
    await page.keyboard.press("ArrowLeft");
    await nested.waitFor({ state: "detached" });
    await page.keyboard.press("ArrowRight");
    await nested.waitFor();
    const bar = page.locator("tbody svg.bar rect:not(.fold)").first();
    const before = Number(await bar.getAttribute("width"));
    await page.keyboard.press("+");
    await page.getByRole("status").getByText(/ ms to /).waitFor();
    expect(Number(await bar.getAttribute("width"))).toBeGreaterThanOrEqual(before);
    await page.keyboard.press(">");
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    await page.getByRole("status").getByText(/ ms to /).waitFor({ state: "detached" });
    const { x, y, width } = (await page.locator(".overview > svg").boundingBox())!;
    await page.mouse.move(x + width / 4, y + 10);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 10);
    await page.mouse.up();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("status").getByText(/ ms to /).waitFor({ state: "detached" });
    await nested.click();
    await page.getByRole("heading", { level: 1, name: "Counter/nested/add" }).waitFor();
    expect(new URL(page.url()).searchParams.get("entry")).toBe("2");
    await page.getByRole("complementary", { name: "Chosen step" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("goes to what failed by a key, and draws each attempt", async () => {
    const id = await start("Greeter/flakyStep", { id: "errors", failures: 2 });
    await stands(id, "completed");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByRole("link", { name: /^dp_/ }).waitFor();
    await page.getByRole("row", { name: /middle/ }).waitFor();
    await page.locator(".overview .attempt").first().waitFor();
    await page.locator(".overview title").getByText(/attempt 1 failed: .*errors is not ready/)
      .first().waitFor({ state: "attached" });
    await page.keyboard.press("e");
    const step = page.getByRole("complementary", { name: "Chosen step" });
    await step.getByText(`run("middle")`).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("after");
    await page.getByRole("row", { name: /middle/ }).waitFor({ state: "detached" });
    await expectSound(tab);
    await tab.close();
  });

  test("says why it waits, and lets one do something about it", async () => {
    const id = await start("Fragile/pauses", "page");
    await stands(id, "paused");
    const tab = await ui.open(`invocations/${id}?tab=errors`);
    const { page } = tab;
    await page.getByText(/is paused (since .* )?until it is resumed/).waitFor();
    await page.getByText("page is not ready").first().waitFor();
    await page.getByText("Stack trace").first().click();
    await expectSound(tab);
    ui.endpoint.release("page");
    await page.keyboard.press("r");
    await page.getByText("Resume: done").waitFor();
    await page.getByRole("button", { name: "Restart" }).waitFor();
    await page.getByRole("tab", { name: "Journal" }).click();
    await page.getByRole("button", { name: "return" }).click();
    await page.getByRole("button", { name: "Restart from here" }).waitFor();
    await page.getByRole("button", { name: "Restart", exact: true }).click();
    await page.waitForURL((url) => !url.href.includes(id));
    await page.getByText("Restarts", { exact: true }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says where it retries, what it waited for, and leads to its object", async () => {
    const holder = await start("Counter/facts/hold", "facts");
    await ui.endpoint.happens("facts hold");
    const id = await start("Counter/facts/add", 1);
    await stands(id, "pending");
    ui.endpoint.release("facts");
    await stands(holder, "completed");
    await stands(id, "completed");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    if (!isReference) {
      await page.getByText("Waited for", { exact: true }).waitFor();
      await page.getByText(/^lock \d/).waitFor();
    }
    await page.getByRole("link", { name: "Counter/facts", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Objects / Counter / facts" }).waitFor();
    const retries = await start("Greeter/flakyStep", { id: "forever", failures: 1e6 });
    await stands(retries, "backing-off");
    await page.goto(ui.at(`invocations/${retries}`));
    const sentence = page.locator(".sentence");
    await sentence.getByText("run middle").waitFor();
    await sentence.getByText("forever is not ready").waitFor();
    const fact = (name: string) =>
      page.locator("dl.facts > div").filter({ has: page.getByText(name, { exact: true }) })
        .locator("dd");
    const { host } = new URL(ui.endpoint.url);
    await soon(() => fact("Deployment").innerText()).toContain(`${host}, revision 1, `);
    await soon(() => fact("Attempt").innerText()).toMatch(/^\d+ of 70, since /);
    await expectSound(tab);
    await operate(ui.server, "kill", retries);
    await tab.close();
  });

  test("says what it waits for: a lock, a step, an operator", async () => {
    await manage(ui.server, "PATCH /services/Waiter", { inactivity_timeout: "1s" });
    const naps = await start("Waiter/callNap", { id: "said", ms: NEVER_MS });
    await start("Counter/said/hold", "said");
    await ui.endpoint.happens("said hold");
    const waits = await start("Counter/said/add", 1);
    const pauses = await start("Fragile/pauses", "said for good");
    await stands(pauses, "paused");
    await stands(naps, "suspended");
    const tab = await ui.open("settings");
    const { page } = tab;
    const sentence = page.locator(".sentence");
    for (
      const [id, said] of [
        [waits, /lock of Counter\/said, which inv_\w+….* holds.*, place 1 of its queue/],
        [naps, /(the result of|call) Greeter\/nap/],
        [pauses, /said for good is not ready/],
      ] as const
    ) {
      await page.goto(ui.at(`invocations/${id}`));
      await sentence.waitFor();
      const text = async () => (await sentence.innerText()).replaceAll(/\s+/g, " ");
      await expect.poll(text, { timeout: SHOWN_MS }).toMatch(said);
      await expectSound(tab);
      await operate(ui.server, "kill", id);
    }
    ui.endpoint.release("said");
    await tab.close();
  });

  test("is followed while it is open, and canceled after a question", async () => {
    const id = await start("Waiter/callNap", { id: "followed", ms: NEVER_MS });
    await ui.endpoint.happens("followed asleep");
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByRole("row", { name: /call Greeter\/nap\(\).*pending.* s so/ }).waitFor();
    await page.getByRole("button", { name: "Cancel…" }).click();
    const question = page.getByRole("dialog", { name: "Cancel this invocation" });
    await question.getByText(/can undo what it did/).waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("[409] Cancelled").or(page.getByText("[409] cancelled")).first().waitFor();
    await page.getByRole("row", { name: /canceled/ }).first().waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("shows what users wrote as text, whatever it is", async () => {
    const long = `${HOSTILE}${"x".repeat(300_000)}`;
    await call(ui.server, "Greeter/refuse", HOSTILE);
    await call(ui.server, `Counter/${encodeURIComponent(`<i>/..'"`)}/append`, {
      [HOSTILE]: long,
    });
    const rows = await query(
      ui.server,
      "SELECT id FROM sys_invocation WHERE target_handler_name IN ('refuse', 'append')",
    );
    expect(rows.length).toBe(2);
    const tab = await ui.open("settings");
    for (const { id } of rows) {
      for (const rest of ["?entry=0", "?tab=errors", "?tab=raw", "?tab=io"]) {
        await tab.page.goto(ui.at(`invocations/${id}${rest}`));
        await tab.page.getByRole("tabpanel").waitFor();
        await tab.page.getByText("Loading…").waitFor({ state: "detached" });
        expect(await tab.page.locator("main :is(img, script, i, b)").count()).toBe(0);
      }
    }
    await tab.page.getByText("alert(2)").first().waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("says that there is none, and why that may be", async () => {
    for (const id of ["inv_17f05kLK7Rok0352uEeVYRnt2zD9G15sw7", "inv_nonsense"]) {
      const tab = await ui.open(`invocations/${id}`, { allowed: [400, 500] });
      await tab.page.getByText(/deleted when its retention is over/).waitFor();
      await expectSound(tab);
      await tab.close();
    }
  });
});
