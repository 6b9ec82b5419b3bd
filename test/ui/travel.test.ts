import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { call, manage, operate, query, send, value } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const NEVER_MS = 3_600_000;
/** Entries of a journal that is long. */
const LONG = 300;

describe.skipIf(!hasBrowser)("time travel", () => {
  const ui = useUi();
  const start = async (path: string, input?: unknown) => {
    const id = idOf(await send(ui.server, path, input));
    await until(`${id} to begin`, async () => await journalOf(id) > 0);
    return id;
  };
  const rowsOf = (statement: string) => query(ui.server, statement);
  const journalOf = async (id: string) =>
    (await rowsOf(`SELECT index FROM sys_journal WHERE id = '${id}'`)).length;
  const ends = (id: string) =>
    until(`${id} to end`, async () =>
      (await rowsOf(
        `SELECT id FROM sys_invocation_status WHERE id = '${id}' AND status = 'completed'`,
      )).length === 1);

  test("goes through a journal by keys, and each entry has an address", async () => {
    await value(ui.server, "Counter/travels/add", 40);
    const id = await start("Counter/travels/add", 2);
    await ends(id);
    const last = await journalOf(id) - 1;
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    await page.getByRole("tab", { name: "Time travel" }).click();
    const slider = page.getByRole("slider", { name: "Entry of the journal" });
    await slider.waitFor();
    const spoken = () => slider.getAttribute("aria-valuetext");
    expect(await spoken()).toBe(`${last} of ${last}: return, first attempt`);
    const then = page.getByRole("region", { name: "State then" });
    await then.getByText("set at entry 2").waitFor();
    await then.getByText("42", { exact: true }).waitFor();
    await expectSound(tab);
    await slider.focus();
    await page.keyboard.press("Home");
    await page.waitForURL(/entry=0/);
    expect(await spoken()).toBe(`0 of ${last}: input(), first attempt`);
    // It is known only because it was read later.
    await then.getByText("read at entry 1, later").waitFor();
    await then.getByText("40", { exact: true }).waitFor();
    await then.getByText("It had no other keys.").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/entry=1/);
    await page.getByRole("heading", { level: 2, name: `get("value")` }).waitFor();
    await page.getByRole("heading", { level: 2, name: "Command: GetEagerState" }).waitFor();
    await page.keyboard.press("End");
    await page.waitForURL(new RegExp(`entry=${last}`));
    await page.keyboard.press("[");
    await page.waitForURL(new RegExp(`entry=${last - 1}`));
    await page.reload();
    await page.getByRole("heading", { level: 2, name: `set("value")` }).waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("says what had no result yet, and leads to it", async () => {
    const id = await start("Waiter/callNap", { id: "travels", ms: NEVER_MS });
    await ui.endpoint.happens("travels asleep");
    const tab = await ui.open(`invocations/${id}?tab=travel`);
    const { page } = tab;
    const awaited = page.getByRole("region", { name: "Had no result yet" });
    await awaited.getByText("call Greeter/nap()").waitFor();
    await awaited.getByRole("button").first().click();
    await page.waitForURL(/entry=1/);
    await page.getByRole("heading", { level: 2, name: "call Greeter/nap()" }).waitFor();
    await page.getByRole("region", { name: "State then" }).getByText("A service has no state.")
      .waitFor();
    // It has not ended, so that it cannot be restarted.
    expect(await page.getByRole("button", { name: "Restart from here" }).count()).toBe(0);
    await expectSound(tab);
    await tab.close();
  });

  test("says which attempt wrote an entry, and restarts from it", async () => {
    const id = await start("Greeter/flakyStep", { id: "restarts", failures: 3 });
    await ends(id);
    const tab = await ui.open(`invocations/${id}?tab=travel`);
    const { page } = tab;
    // It failed in the same way each time, which is one event.
    const last = isReference ? "attempt 2 or a later one, 1 failure before it" : "attempt 4,";
    await page.getByText(last).waitFor();
    const slider = page.getByRole("slider", { name: "Entry of the journal" });
    await slider.focus();
    for (const entry of [0, 1]) {
      await page.keyboard.press(entry === 0 ? "Home" : "ArrowRight");
      await page.waitForURL(new RegExp(`entry=${entry}`));
    }
    await page.getByText(/Entry 1, first attempt/).waitFor();
    await page.getByText("Its result came at").waitFor();
    await page.getByRole("button", { name: "Restart from here" }).click();
    await page.waitForURL((url) => !url.href.includes(id));
    await page.getByText("Restarts", { exact: true }).waitFor();
    expect(ui.endpoint.count("restarts before")).toBe(1);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("derives the state from lazy reads, clears and lists of keys", async () => {
    await value(ui.server, "Lazy/travels/put", ["a", "<b>bold</b>\u202e"]);
    const id = await start("Lazy/travels/take", "a");
    await ends(id);
    const tab = await ui.open(`invocations/${id}?tab=travel`);
    const { page } = tab;
    const then = page.getByRole("region", { name: "State then" });
    await then.getByText(/cleared at entry \d+/).waitFor();
    await then.getByText("not set").waitFor();
    await page.goto(ui.at(`invocations/${id}?tab=travel&entry=0`));
    await then.getByText("<b>bold</b>").waitFor();
    await value(ui.server, "Lazy/travels/put", ["kept", 1]);
    await call(ui.server, "Lazy/travels/keys");
    const [{ id: listing } = {}] = await rowsOf(
      "SELECT id FROM sys_invocation WHERE target_handler_name = 'keys'",
    );
    await page.goto(ui.at(`invocations/${listing}?tab=travel`));
    await then.getByText("as it is now: nothing has written it since").waitFor();
    await then.getByText("It had no other keys.").waitFor();
    // The reference does not say that somebody else has edited the state before: a run has the value then.
    if (isReference) return await tab.close();
    // The runs before an edit say nothing of what was listed behind it, nor does the state of now.
    const edited = { object_key: "travels", new_state: { kept: "2" } };
    expect((await manage(ui.server, "POST /services/Lazy/state", edited)).status).toBe(202);
    const listed = await start("Lazy/travels/keys");
    await ends(listed);
    await value(ui.server, "Lazy/travels/put", ["kept", 3]);
    await page.goto(ui.at(`invocations/${listed}?tab=travel`));
    await then.getByText("set, its value is not known").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("has what its journal does not say from the runs before it, and from now", async () => {
    await value(ui.server, "Lazy/before/put", ["theirs", "left by another"]);
    await value(ui.server, "Lazy/before/put", ["mine", "old"]);
    const id = await start("Lazy/before/put", ["mine", "new"]);
    await ends(id);
    const tab = await ui.open(`invocations/${id}?tab=travel&entry=0`);
    const { page } = tab;
    const then = page.getByRole("region", { name: "State then" });
    const mine = then.getByText(/as the run before it left it/);
    await mine.waitFor();
    await then.getByText("old", { exact: true }).waitFor();
    await then.getByText("as it is now: nothing has written it since").waitFor();
    await then.getByText("left by another").waitFor();
    await then.getByText("It had no other keys.").waitFor();
    await expectSound(tab);
    // What is now says nothing of then, once another run has written.
    await value(ui.server, "Lazy/before/put", ["later", 1]);
    await page.reload();
    await then.getByText(/as the run before it left it/).nth(1).waitFor();
    await then.getByText("Other keys are not known").waitFor();
    expect(await then.getByText("later").count()).toBe(0);
    if (isReference) {
      await then.getByText("This server does not record who edits states").waitFor();
      return await tab.close();
    }
    // Neither do the runs before, once somebody has edited the state after them.
    const edited = { object_key: "before", new_state: { theirs: [49] } };
    expect((await manage(ui.server, "POST /services/Lazy/state", edited)).status).toBe(202);
    const last = await start("Lazy/before/put", ["mine", "newest"]);
    await ends(last);
    await page.goto(ui.at(`invocations/${last}?tab=travel&entry=0`));
    await then.getByText("first written at entry").waitFor();
    await then.getByText("as it is now").waitFor();
    await mine.waitFor({ state: "detached" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("follows a journal that grows, and is quick in a long one", async () => {
    const input = { id: "grows", count: LONG, holdAt: LONG - 1 };
    const id = idOf(await send(ui.server, "Greeter/steps", input));
    await ui.endpoint.happens(`grows step ${LONG - 1}`);
    const tab = await ui.open(`invocations/${id}?tab=travel`);
    const { page } = tab;
    const slider = page.getByRole("slider", { name: "Entry of the journal" });
    await slider.waitFor();
    const before = Number(await slider.inputValue());
    expect(before).toBeGreaterThan(LONG);
    ui.endpoint.release("grows");
    await until("it to follow", async () => Number(await slider.inputValue()) > before);
    await slider.focus();
    // Each key moves it at once, and the address follows when it stands.
    for (let i = 0; i < 5; i++) await page.keyboard.press("PageDown");
    await until(
      "the address to follow",
      async () => new URL(page.url()).searchParams.get("entry") === await slider.inputValue(),
    );
    expect(Number(await slider.inputValue())).toBeLessThan(before);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says so where there is no journal", async () => {
    const id = await start("Greeter/greet", "Ada");
    await ends(id);
    await operate(ui.server, "purge-journal", id);
    const tab = await ui.open(`invocations/${id}?tab=travel`);
    await tab.page.getByText("It has no journal").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
