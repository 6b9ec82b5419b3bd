import { describe, expect, test } from "vitest";
import type { UiFiles } from "../../src/admin/ui_files.ts";
import { UI_HEADERS } from "../../src/admin/ui_headers.ts";
import { idOf } from "../conformance/_world.ts";
import { buildUi } from "../support/build.ts";
import { query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import type { Tab } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const KIB = 1_024;
/** Of all files together, and of a page beyond the first one: compressed, without data. */
const [ALL_BYTES, PAGE_BYTES, STYLE_BYTES] = [160 * KIB, 25 * KIB, 10 * KIB];

/** Every answer has them, and they are no part of a page. Over HTTP/2 they are sent once. */
const HEADER_BYTES = Object.entries(UI_HEADERS)
  .reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);

test("all files of the UI are within their budget", async () => {
  buildUi();
  const { built } = await import("../../dist/ui_assets.ts") as { built: UiFiles };
  const sizes = Object.values(built.files).map(({ gzip }) => Buffer.from(gzip, "base64").length);
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(ALL_BYTES);
  const [style] = Object.entries(built.files).filter(([name]) => name.endsWith(".css"));
  expect(Buffer.from(style?.[1].gzip ?? "", "base64").length).toBeLessThanOrEqual(STYLE_BYTES);
});

/** Of any page that is the first of a visit, over the wire and with its data: bytes and requests. */
const [FIRST_BYTES, FIRST_REQUESTS] = [75 * KIB, 12];
const PAGES = [
  ...["invocations", "objects", "objects/Counter/a", "workflows", "workflows/Flow/w"],
  ...["limits", "kafka", "services", "services/Greeter", "deployments", "sql", "settings", "file"],
];

/** Waits until what was answered is drawn, and that has asked for nothing more. */
async function drawn({ page, requests, settled }: Tab): Promise<void> {
  for (let before = -1; before !== requests.length;) {
    before = requests.length;
    await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    await settled();
  }
}

describe.skipIf(!hasBrowser)("every page", () => {
  /** Requests of Home, which is open before another page. */
  const known = new Set<string>();
  /** Of the pages that are of one deployment or one invocation. */
  const ids: Record<string, string> = {};
  const ui = useUi(async (opened) => {
    const home = await opened.open("");
    await home.page.getByRole("row", { name: /Greeter/ }).first().waitFor();
    await drawn(home);
    for (const { url } of home.requests) known.add(url);
    const [{ id } = {}] = await query(opened.server, "SELECT id FROM sys_deployment");
    ids["deployments"] = String(id);
    ids["invocations"] = idOf(await send(opened.server, "Greeter/greet", "Ada"));
  });

  test.each(["", ...PAGES, "deployments/ID", "invocations/ID"])(
    "is within the budget of a first page, and of one behind another: /%s",
    async (name) => {
      const tab = await ui.open(name.replace("ID", ids[name.split("/")[0] ?? ""] ?? ""));
      const { page, requests } = tab;
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      await drawn(tab);
      const sum = (all: typeof requests) => all.reduce((total, { bytes }) => total + bytes, 0);
      const chunks = requests.filter(({ url }) => url.endsWith(".js") && !known.has(url));
      expect(sum(requests)).toBeLessThanOrEqual(FIRST_BYTES);
      // What is polled may be asked for again.
      const asked = new Set(requests.map(({ url, body }) => `${url} ${body}`));
      expect(asked.size, "requests").toBeLessThanOrEqual(FIRST_REQUESTS);
      expect(sum(chunks), "behind Home").toBeLessThanOrEqual(PAGE_BYTES);
      await tab.close();
    },
  );
});

describe.skipIf(!hasBrowser)("the page of an invocation", () => {
  const ui = useUi();

  test("is within the budget of a page, with everything that it can show", async () => {
    const id = idOf(await send(ui.server, "Greeter/greet", "Ada"));
    const tab = await ui.open("");
    const { page } = tab;
    await page.getByRole("row", { name: /Greeter/ }).first().waitFor();
    await tab.settled();
    const before = tab.requests.length;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(id);
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "Time travel" }).waitFor();
    await tab.settled();
    const chunks = tab.requests.slice(before).filter(({ url }) => url.endsWith(".js"));
    expect(chunks.length).toBeGreaterThan(0);
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
    expect(bytes - chunks.length * HEADER_BYTES).toBeLessThanOrEqual(PAGE_BYTES);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
