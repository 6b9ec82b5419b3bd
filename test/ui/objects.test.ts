import { randomUUID } from "node:crypto";
import type { Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import { until } from "../support/child.ts";
import { ask, manage, query, send, value } from "../support/client.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser } from "./_browser.ts";
import { BIDI, DEEP, LONG, MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon } from "./_tab.ts";
import { type Ui, useUi } from "./_ui.ts";

const HOSTILE_KEY = `${MARKUP}/${BIDI}`;
const BYTES = [255, 0, 128];

/** Replaces the state of an object, and waits until it is there. */
async function putState({ server }: Ui, key: string, state: Record<string, string | number[]>) {
  const body = { object_key: key, new_state: state };
  const { status } = await manage(server, "POST /services/Counter/state", body);
  expect(status).toBe(202);
  await until(`the state of ${key}`, async () => (await stateOf(server, key)).length > 0);
}

function stateOf(server: Ui["server"], key: string) {
  const literal = key.replaceAll("'", "''");
  return query(
    server,
    `SELECT key, value, value_utf8 FROM state WHERE service_key = '${literal}' ORDER BY key`,
  );
}

describe.skipIf(!hasBrowser || isReference)("objects in scopes", () => {
  const settings = {
    EXPERIMENTAL_ENABLE_VQUEUES: "true",
    EXPERIMENTAL_ENABLE_SCOPED_VIRTUAL_OBJECTS: "true",
  };
  const ui = useUi(async ({ server }) => {
    await value(server, "Counter/shared/add", 1);
    await ask(server, "scope/acme/call/Counter/shared/add", 40);
  }, { settings });

  test("show what is theirs, and are called in their scope", async () => {
    const tab = await ui.open("objects");
    const { page } = tab;
    await page.getByRole("row", { name: /shared acme/ }).getByRole("link", { name: "shared" })
      .click();
    await page.getByText("In the scope acme").waitFor();
    await page.getByRole("region", { name: "State" }).getByText("40").waitFor();
    const runs = page.getByRole("table", { name: "Recent invocations" }).getByRole("row");
    await runs.nth(1).waitFor();
    await soon(() => runs.count()).toBe(2);
    await expectSound(tab);
    await page.getByRole("link", { name: "add", exact: true }).click();
    await page.getByText(/^POST .*\/scope\/acme\/call\/Counter\/shared\/add$/).waitFor();
    await soon(() => page.getByLabel("Key of the object").inputValue()).toBe("shared");
    await page.getByRole("textbox", { name: /^Input/ }).fill("2");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByText("42", { exact: true }).waitFor();
    await page.getByLabel("Limit key").fill("gold");
    await page.getByText(/add\?limit-key=gold$/).waitFor();
    await expectSound(tab);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser)("objects", () => {
  const ui = useUi(async (ui) => {
    await value(ui.server, "Counter/alice/add", 3);
    await putState(ui, HOSTILE_KEY, {
      [MARKUP]: MARKUP,
      bytes: BYTES,
      deep: DEEP,
      long: LONG,
      bidi: JSON.stringify({ [BIDI]: [BIDI, { list: [1, 2] }] }),
    });
    await putState(ui, "..", { dots: '"two"' });
    await send(ui.server, "Counter/held/hold", "h1");
    await ui.endpoint.happens("h1 hold");
    for (const delta of [1, 2]) await send(ui.server, "Counter/held/add", delta);
  });

  test("are listed, those that are waited for first, and found by what their state contains", async () => {
    const tab = await ui.open("objects");
    const { page } = tab;
    const rows = page.getByRole("table", { name: "Objects" }).getByRole("row");
    await rows.filter({ hasText: "alice" }).waitFor();
    await soon(() => rows.nth(1).innerText()).toContain("held");
    await rows.filter({ hasText: MARKUP }).waitFor();
    await expectSound(tab);
    await page.keyboard.press("/");
    await page.keyboard.type("state:two");
    await page.keyboard.press("Enter");
    await rows.filter({ hasText: "alice" }).waitFor({ state: "detached" });
    expect(page.url()).toBe(ui.at("objects?filter=state%3Atwo"));
    await page.keyboard.press("End");
    await page.keyboard.type(" key:alice");
    await page.keyboard.press("Enter");
    await page.getByText("No object matches the filter.").waitFor();
    await page.getByRole("button", { name: "Without state:two" }).waitFor();
    await page.getByRole("button", { name: "Without key:alice" }).click();
    await page.getByRole("link", { name: "..", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("dots").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("stay in their places while somebody looks, until a new order is asked for", async () => {
    const tab = await ui.open("objects");
    const { page } = tab;
    const rows = page.getByRole("table", { name: "Objects" }).getByRole("row");
    await rows.nth(1).getByText("held").waitFor();
    await send(ui.server, "Counter/busy/hold", "h2");
    await ui.endpoint.happens("h2 hold");
    for (let i = 0; i < 3; i++) await send(ui.server, "Counter/busy/add", 1);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    await expectSound(tab);
    await rows.nth(1).getByText("held").waitFor();
    await page.getByRole("button", { name: "1 new" }).click();
    await rows.nth(1).getByText("busy").waitFor();
    await page.getByRole("button", { name: "1 new" }).waitFor({ state: "detached" });
    for (let i = 0; i < 4; i++) await send(ui.server, "Counter/held/add", 1);
    await page.getByRole("button", { name: "Sort again" }).click();
    await rows.nth(1).getByText("held").waitFor();
    ui.endpoint.release("h2");
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("show the holder and the queue in its order", async () => {
    const tab = await ui.open("objects/Counter/held");
    const { page } = tab;
    await page.getByText(/^Locked .* by hold$/).waitFor();
    await page.getByRole("heading", { name: /^Queue: \d, in their order/ }).waitFor();
    const rows = page.getByRole("table", { name: "Queue" }).getByRole("row");
    await soon(() => rows.nth(2).innerText()).toMatch(/^\s*2\s+add/);
    await page.getByText("It has no state.").waitFor();
    await page.getByRole("table", { name: "Recent invocations" }).waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("cancel the holder that was asked about, not the next one", async () => {
    const [first, second] = [await start("p1"), await start("p2")];
    await ui.endpoint.happens("p1 hold");
    const tab = await ui.open("objects/Counter/passed");
    const { page } = tab;
    await page.locator(".lock").locator(`a[href$="${first}"]`).waitFor();
    await page.getByRole("button", { name: "Cancel holder" }).click();
    ui.endpoint.release("p1");
    await page.locator(".lock").locator(`a[href$="${second}"]`).waitFor();
    const dialog = page.getByRole("dialog", { name: "Cancel holder" });
    await dialog.getByText(`To the invocation ${first} of hold`).waitFor();
    await dialog.getByRole("button", { name: "Cancel holder" }).click();
    await page.getByText(`'${first}' was already completed`).waitFor();
    ui.endpoint.release("p2");
    await page.getByText("No invocation holds it.").waitFor();
    expect(await ask(ui.server, `attach/${second}`)).toMatchObject({ status: 200 });
    expect(tab.wrong).toEqual([]);
    await tab.close();

    async function start(name: string): Promise<string> {
      return idOf(await send(ui.server, "Counter/passed/hold", name));
    }
  });

  test("show any state as text, bytes as bytes", async () => {
    const tab = await ui.open(
      `objects/Counter/${encodeURIComponent(HOSTILE_KEY).replaceAll(".", "%2E")}`,
    );
    const { page } = tab;
    await page.getByText("0xff0080 (no text)").waitFor();
    await page.getByText("too large to be shown here").waitFor();
    await soon(() => page.getByText(MARKUP).count()).toBeGreaterThan(1);
    await soon(() => page.title()).toBe("Object · perdure");
    expect(await page.locator("main img, main script").count()).toBe(0);
    await expectSound(tab);
    await tab.close();
  });

  test("can be left unedited when their state cannot be read", async () => {
    const tab = await ui.open("objects/Counter/alice", { allowed: [503] });
    const { page } = tab;
    await page.getByRole("button", { name: "Edit state…" }).waitFor();
    await page.route(
      "**/query",
      (route) =>
        /"SELECT key, value_length, value, /.test(route.request().postData() ?? "")
          ? route.fulfill({ status: 503, body: '{"message":"busy"}' })
          : route.continue(),
    );
    await page.getByRole("button", { name: "Edit state…" }).click();
    await page.getByRole("alert").getByText("busy").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByRole("button", { name: "Edit state…" }).waitFor();
    await tab.close();
  });

  test("are edited by the keyboard after a difference, unless the state was changed", async () => {
    // A key of its own, so that it can be tried again.
    const key = randomUUID();
    await value(ui.server, `Counter/${key}/add`, 3);
    const tab = await ui.open(`objects/Counter/${key}`);
    const { page } = tab;
    await page.getByRole("button", { name: "Edit state…" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "value", exact: true }).getByRole("textbox").fill("7");
    await page.getByRole("button", { name: "Add an entry" }).click();
    const added = page.getByRole("group", { name: "New entry" });
    await added.getByLabel("Name").fill(MARKUP);
    await added.getByLabel("Value").fill('"new"');
    await page.getByRole("button", { name: "Review 2 changes…" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Change state" });
    await soon(() => dialog.locator("del").innerText()).toContain("3");
    await soon(() => dialog.locator("ins").allInnerTexts()).toEqual(["7", '"new"']);
    await expectSound(tab);
    await dialog.getByRole("button", { name: "Change state" }).click();
    await page.getByText(/^Accepted:/).waitFor();
    await page.getByRole("button", { name: "Edit state…" }).waitFor();
    await page.getByText('"new"').waitFor();
    const shown = await stateOf(ui.server, key);
    expect(shown.map(({ key, value_utf8 }) => [key, value_utf8])).toEqual([
      [MARKUP, '"new"'],
      ["value", "7"],
    ]);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("are sent once, and stay edited when that fails", async () => {
    const tab = await ui.open("objects/Counter/alice", { allowed: [503] });
    const { page } = tab;
    const sent: Route[] = [];
    await page.route("**/services/Counter/state", (route) => void sent.push(route));
    await page.getByRole("button", { name: "Edit state…" }).click();
    const field = page.getByRole("group", { name: "value", exact: true }).getByRole("textbox");
    await field.fill("8");
    await page.getByRole("button", { name: "Review 1 change…" }).click();
    const dialog = page.getByRole("dialog", { name: "Change state" });
    await dialog.getByRole("button", { name: "Change state" }).click();
    // It is over before it is answered, so nobody answers twice.
    await dialog.waitFor({ state: "detached" });
    await until("the edit to be sent", () => sent.length > 0);
    await sent[0]?.fulfill({ status: 503, body: '{"message":"busy"}' });
    await page.getByRole("status").getByText("busy").waitFor();
    await soon(() => field.inputValue()).toBe("8");
    expect(sent.length).toBe(1);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("keep what others have changed meanwhile, and bytes that are no text", async () => {
    const bob = randomUUID();
    await putState(ui, bob, { value: "1", bytes: BYTES });
    const tab = await ui.open(`objects/Counter/${bob}`);
    const { page } = tab;
    const edit = async (text: string) => {
      await page.getByRole("button", { name: "Edit state…" }).click();
      await page.getByRole("group", { name: "value", exact: true }).getByRole("textbox").fill(text);
    };
    const send = async () => {
      await page.getByRole("button", { name: "Review 1 change…" }).click();
      const dialog = page.getByRole("dialog", { name: "Change state" });
      await dialog.getByRole("button", { name: "Change state" }).click();
      await page.getByRole("button", { name: "Edit state…" }).waitFor();
    };
    await edit("2");
    await value(ui.server, `Counter/${bob}/add`, 10);
    await send();
    // It comes behind the edit, which was refused.
    expect(await value(ui.server, `Counter/${bob}/add`, 0)).toBe(11);
    await edit("20");
    await send();
    await until(
      "the second edit",
      async () => (await stateOf(ui.server, bob)).some(({ value_utf8 }) => value_utf8 === "20"),
    );
    const [bytes] = await stateOf(ui.server, bob);
    expect(bytes).toMatchObject({ key: "bytes", value: "ff0080" });
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
