import path from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { call, manage, query, register, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { BIDI, DEEP, LONG, MARKUP } from "./_hostile.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, soon, type Tab } from "./_tab.ts";
import { type Ui, useUi } from "./_ui.ts";

const SCRIPT = path.join(import.meta.dirname, "_corpus.mjs");
const NAME = MARKUP + BIDI;
/** Header fields have no marks of direction. */
const HEADERS = { "x-note": MARKUP, "idempotency-key": MARKUP };
/** No text in UTF-8, with an overlong form, half of a pair and the first byte of more. */
const BYTES = Uint8Array.from([0xff, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0, 0xf0]);
/** What retries, sleeps, waits for its object and for its promise. The reference suspends later. */
const STANDING = isReference ? 2 : 4;
/** Every kind of invocation, as what it is. */
const KINDS = {
  walks: "has steps",
  retries: "retries",
  refused: "was refused",
  long: "is long",
  deep: "is deep",
  bytes: "is no text",
} satisfies Record<keyof Ids, string>;
const TABS = ["journal", "errors", "io", "state", "travel", "calls", "raw"];
/** `HOSTILE=all` opens every tab with every kind, which takes half a minute longer. */
const ALL_TABS: ReadonlySet<string> = new Set(
  process.env["HOSTILE"] === "all" ? Object.keys(KINDS) : ["walks", "deep"],
);
/** Those that show values. */
const VALUE_TABS = ["journal", "io", "travel"];
const segment = (text: string) => encodeURIComponent(text).replaceAll(".", "%2E");

/** Sends bytes as they are, and answers the id of the invocation. */
async function sendBytes({ server }: Ui, body: string | Uint8Array): Promise<string> {
  const url = `${server.ingress}/svc/send/Corpus/bytes`;
  const headers = { "content-type": "application/octet-stream" };
  const answer = await fetch(url, { method: "POST", headers, body: body as BodyInit });
  return (await answer.json() as { invocationId: string }).invocationId;
}

/** Ids by what their invocations have. */
type Ids = Record<"walks" | "refused" | "long" | "deep" | "bytes" | "retries", string>;

async function fill(ui: Ui): Promise<Ids> {
  const { server } = ui;
  const start = async (path: string, input: unknown, ask = {}) =>
    idOf(await send(server, path, input, ask));
  await register(server, ui.endpoint, { metadata: { note: MARKUP }, force: true });
  const ids: Ids = {
    walks: await start("Corpus/walk", { name: NAME, key: NAME }, { headers: HEADERS }),
    refused: await start("Corpus/refuse", NAME),
    long: await start("Corpus/refuse", LONG),
    deep: await sendBytes(ui, DEEP),
    bytes: await sendBytes(ui, BYTES),
    retries: await start("Corpus/retries", NAME),
  };
  await call(server, `Pot/${segment(NAME)}/put`, { name: "long", value: LONG });
  await call(server, `Pot/${segment(NAME)}/put`, { name: BIDI, value: { [NAME]: [NAME] } });
  await start(`Pot/${segment(NAME)}/hold`, null);
  await start(`Pot/${segment(NAME)}/put`, { name: "waits", value: 1 });
  await start(`Plan/${segment(NAME)}/run`, NAME);
  if (!isReference) await configure(ui);
  await until("all to stand", async () => {
    const open = await query(
      server,
      "SELECT status FROM sys_invocation WHERE status IN ('backing-off', 'suspended', 'pending')",
    );
    return open.length >= STANDING;
  });
  return ids;
}

/** What operators have written, of kinds that not every server has. */
async function configure({ server }: Ui): Promise<void> {
  await manage(server, "PUT /limits/rules", [
    { pattern: "acme", limits: { concurrency: 1 }, description: NAME },
  ]);
  const properties = { "bootstrap.servers": "localhost:9092", "client.id": NAME };
  await manage(server, "POST /kafka-clusters", { name: "local", properties });
  await manage(server, "POST /subscriptions", {
    ...{ source: "kafka://local/orders", sink: "service://Corpus/refuse" },
    options: { "client.id": NAME },
  });
}

/** Elements that nothing of ours uses: they came from a text. */
async function expectText({ page }: Tab): Promise<void> {
  expect(await page.locator("body :is(img, iframe, body script, b, i)").count()).toBe(0);
  await soon(() => page.title()).toMatch(/ · perdure$/);
}

const STATEMENT = "SELECT * FROM sys_invocation LIMIT 50";
const STATE = "SELECT service_key, key, value_utf8 FROM state";

describe.skipIf(!hasBrowser)("what users wrote is text, whatever it is", () => {
  let ids: Ids;
  const ui = useUi(async (ui) => void (ids = await fill(ui)), { script: SCRIPT });

  /** Opens pages one after the other. `text`: what each of them shows somewhere. */
  async function walk(pages: readonly string[], text?: string | RegExp): Promise<void> {
    const tab = await ui.open("settings");
    const { page } = tab;
    for (const name of pages) {
      await page.goto(ui.at(name));
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      if (text !== undefined) await page.getByText(text).first().waitFor();
      await expectText(tab);
      await expectSound(tab);
    }
    await tab.close();
  }

  test.for(["", "invocations", "objects", "workflows", "deployments"])("on /%s", async (name) => {
    await walk([name], name === "deployments" ? undefined : MARKUP);
  });

  test("on the page of an object and of a run", async () => {
    await walk([`objects/Pot/${segment(NAME)}`, `workflows/Plan/${segment(NAME)}`], MARKUP);
  });

  test("on the pages of a service and of a deployment", async () => {
    const [{ id } = {}] = await query(ui.server, "SELECT id FROM sys_deployment");
    await walk(["services"]);
    await walk(["services/Corpus", `deployments/${id}`], MARKUP);
  });

  test.skipIf(isReference)("on the pages of limits and of Kafka", async () => {
    await walk(["limits", "kafka"], MARKUP);
  });

  test("in SQL and in filters", async () => {
    const address = (page: string, query: Record<string, string>) =>
      `${page}?${new URLSearchParams(query)}`;
    await walk([
      address("sql", { q: STATEMENT }),
      address("sql", { q: STATEMENT, as: "json" }),
      address("sql", { q: STATE }),
      address("invocations", { filter: `"${NAME.replaceAll('"', '\\"')}"` }),
      address("objects", { filter: `state:"${NAME.replaceAll('"', '\\"')}"` }),
    ]);
  });

  test.for(Object.entries(KINDS))("in the tabs of what %s: it %s", async ([kind]) => {
    const id = ids[kind as keyof Ids];
    const tabs = ALL_TABS.has(kind) ? TABS : VALUE_TABS;
    await walk(tabs.map((tab) => `invocations/${id}?tab=${tab}&entry=0`));
  });

  test("in settings, with what nobody has set", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByLabel("Dark").check();
    const spoiled = await page.evaluate((text) => {
      const names = Object.keys(localStorage);
      for (const name of names) {
        const kept = JSON.parse(localStorage[name]) as object;
        localStorage[name] = JSON.stringify({
          ...kept,
          theme: text,
          [text]: text,
          density: [text],
        });
      }
      return names.length;
    }, NAME);
    expect(spoiled).toBeGreaterThan(0);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    // What is not known is as it is by itself.
    expect(await page.getByRole("group", { name: "Theme" }).getByLabel("As the system").isChecked())
      .toBe(true);
    await expectText(tab);
    await expectSound(tab);
    await tab.close();
  });

  test.for(["long", "bytes"] as const)("in a file of what is %s", async (kind) => {
    const tab = await ui.open(`invocations/${ids[kind]}?tab=raw`);
    const { page } = tab;
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as a file" }).click(),
    ]);
    const file = await download.path();
    for (const name of VALUE_TABS) {
      await page.goto(ui.at(`file?tab=${name}&entry=0`));
      await page.getByLabel("A file of an invocation").setInputFiles(file);
      await page.getByText(/Read only, from/).waitFor();
      await page.getByRole("tabpanel").waitFor();
      await expectText(tab);
      await expectSound(tab);
    }
    await tab.close();
  });

  test("in the palette, the peek and the question of a batch", async () => {
    const tab = await ui.open("invocations");
    const { page } = tab;
    await page.getByRole("row", { name: /pending/ }).focus();
    for (const key of ["x", "Space"]) await page.keyboard.press(key);
    await page.getByRole("complementary", { name: "Selected invocation" }).getByText(MARKUP)
      .first().waitFor();
    await page.getByRole("button", { name: "Kill…" }).click();
    await page.getByRole("dialog", { name: "Kill 1 invocation" }).waitFor();
    await expectText(tab);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Page, id, service, key or action" }).fill(
      `Pot/${NAME}`,
    );
    await page.getByRole("option", { name: /^Pot\// }).waitFor();
    await expectText(tab);
    await expectSound(tab);
    await tab.close();
  });
});
