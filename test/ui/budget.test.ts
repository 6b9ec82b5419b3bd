import { describe, expect, test } from "vitest";
import type { UiFiles } from "../../src/admin/ui_files.ts";
import { UI_HEADERS } from "../../src/admin/ui_headers.ts";
import { idOf } from "../conformance/_world.ts";
import { buildUi } from "../support/build.ts";
import { send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { useUi } from "./_ui.ts";

const KIB = 1_024;
/** Of all files together, and of a page beyond the first one: compressed, without data. */
const [ALL_BYTES, PAGE_BYTES] = [160 * KIB, 25 * KIB];

/** Every answer has them, and they are no part of a page. Over HTTP/2 they are sent once. */
const HEADER_BYTES = Object.entries(UI_HEADERS)
  .reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);

test("all files of the UI are within their budget", async () => {
  buildUi();
  const { built } = await import("../../dist/ui_assets.ts") as { built: UiFiles };
  const sizes = Object.values(built.files).map(({ gzip }) => Buffer.from(gzip, "base64").length);
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(ALL_BYTES);
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
