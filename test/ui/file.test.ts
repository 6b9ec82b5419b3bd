import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, expect, test } from "vitest";
import { FILE_BYTES_MAX, parseFile } from "../../src/ui/pages/invocation/export/file.ts";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { operate, query, send, value } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { MARKUP } from "./_hostile.ts";
import { expectSound, type Tab } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const SECRET = "a secret of a customer";

/** What a tab has asked for behind the first requests, but for code and the icon. */
function dataSince({ requests }: Tab, before: number): string[] {
  return requests.slice(before).map(({ url }) => url)
    .filter((url) => !/\/ui\/assets\/[\w-]+\.(js|svg)$/.test(url));
}

describe.skipIf(!hasBrowser)("a file of an invocation", () => {
  const ui = useUi();
  const folder = mkdtempSync(path.join(tmpdir(), "file-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const finished = async (target: string, input?: unknown) => {
    const id = idOf(await send(ui.server, target, input));
    const statement = `SELECT id FROM sys_invocation_status WHERE id = '${id}'
      AND status = 'completed'`;
    await until(`${id} to end`, async () => (await query(ui.server, statement)).length === 1);
    return id;
  };
  /** Presses a button, and answers where the file is that it saves. */
  const saved = async (page: Page, button: string) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    const file = path.join(folder, `${Date.now()} ${download.suggestedFilename()}`);
    await download.saveAs(file);
    return file;
  };
  const opened = (page: Page, file: string) =>
    page.getByLabel("A file of an invocation").setInputFiles(file);
  const written = (name: string, text: string) => {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  test("is saved with its values, and opened where the server has nothing of it", async () => {
    await value(ui.server, "Counter/filed/append", SECRET);
    const id = await finished("Counter/filed/append", MARKUP);
    const tab = await ui.open(`invocations/${id}?tab=raw`);
    const { page } = tab;
    const file = await saved(page, "Save as a file");
    expect(file.endsWith(`${id}.json`)).toBe(true);
    const { has_values: hasValues, state } = parseFile(readFileSync(file, "utf8"));
    expect(hasValues).toBe(true);
    expect(state.map(({ key }) => key)).toEqual(["words"]);
    await operate(ui.server, "purge", id);
    await page.getByRole("link", { name: "Open a file" }).click();
    await page.getByText("No file is open.").waitFor();
    await tab.settled();
    const before = tab.requests.length;
    await opened(page, file);
    await page.getByRole("heading", { level: 2, name: "Counter/filed/append" }).waitFor();
    await page.getByText(/Read only, from .* saved .* on a server/).waitFor();
    await page.getByRole("button", { name: `set("words")` }).click();
    await page.getByRole("complementary", { name: "Chosen step" }).getByText("[2]").waitFor();
    await expectSound(tab);
    await page.getByRole("tab", { name: "Time travel" }).click();
    await page.getByRole("region", { name: "State then" }).getByText(/set at entry/).waitFor();
    await page.getByRole("tab", { name: "Input and output" }).click();
    await page.getByRole("group", { name: "the input" }).getByText("<script>").waitFor();
    await page.getByRole("tab", { name: "State when saved" }).click();
    await page.getByText(SECRET).waitFor();
    await page.getByRole("tab", { name: "Raw and export" }).click();
    await page.getByRole("button", { name: "Save the waterfall as SVG" }).waitFor();
    for (const name of ["Save as a file", "Purge…", "Restart", "Restart from here"]) {
      expect(await page.getByRole("button", { name }).count(), name).toBe(0);
    }
    expect(await page.locator("main :is(img, script)").count()).toBe(0);
    await tab.settled();
    expect(dataSince(tab, before)).toEqual([]);
    await expectSound(tab);
    await tab.close();
  });

  test("is saved without values where they must not leave the installation", async () => {
    const id = await finished("Counter/kept/append", SECRET);
    const tab = await ui.open(`invocations/${id}?tab=raw`);
    const { page } = tab;
    await page.getByLabel(/with values/).uncheck();
    const file = await saved(page, "Save as a file");
    const text = readFileSync(file, "utf8");
    const bytes = JSON.stringify([...Buffer.from(SECRET)]).slice(1, -1);
    for (const spelling of [SECRET, Buffer.from(SECRET).toString("hex"), bytes]) {
      expect(text.includes(spelling)).toBe(false);
    }
    await page.goto(ui.at("file?tab=travel&entry=1"));
    await opened(page, file);
    await page.getByText("without values.").waitFor();
    for (const name of ["Journal", "Time travel", "Input and output", "State when saved"]) {
      await page.getByRole("tab", { name }).click();
      await page.getByRole("tabpanel").waitFor();
      expect(await page.getByRole("alert").count(), name).toBe(0);
    }
    await page.getByText("left out", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Input and output" }).click();
    await page.getByText("It was left out.").waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("is a picture that stands for itself", async () => {
    const id = await finished("Greeter/flakyStep", { id: MARKUP, failures: 1 });
    const tab = await ui.open(`invocations/${id}?tab=raw`);
    const { page } = tab;
    const svg = readFileSync(await saved(page, "Save the waterfall as SVG"), "utf8");
    const found = await page.evaluate((text) => {
      const drawn = new DOMParser().parseFromString(text, "image/svg+xml");
      const count = (selector: string) => drawn.querySelectorAll(selector).length;
      return [count("parsererror"), count("script, image"), count("text") > 5, count("rect") > 3];
    }, svg);
    expect(found).toEqual([0, 0, true, true]);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("is refused with a clear error if it is damaged, too large or something else", async () => {
    const id = await finished("Greeter/greet", "Ada");
    const tab = await ui.open(`invocations/${id}?tab=raw`);
    const { page } = tab;
    const good = readFileSync(await saved(page, "Save as a file"), "utf8");
    const large = written("large.json", "{");
    truncateSync(large, FILE_BYTES_MAX + 1);
    const spoiled = good.replace(`\\"result\\":{`, `\\"result\\":null,\\"other\\":{`);
    await page.goto(ui.at("file?tab=io"));
    const problem = page.getByRole("alert");
    for (
      const [file, text] of [
        [written("cut.json", good.slice(0, -20)), "it is no JSON"],
        [written(`${MARKUP.replaceAll("/", "")}.json`, "[]"), "it is no perdure-invocation"],
        [written("other.json", good.replace(id, "../evil")), "invocation.id is no id"],
        [large, "it has more than 64 MiB"],
        [written("spoiled.json", spoiled), "Cannot show the file: an entry is damaged"],
      ] as const
    ) {
      await opened(page, file);
      await problem.getByText(text).waitFor();
      expect(await page.locator("main :is(img, script)").count()).toBe(0);
    }
    await expectSound(tab);
    // A good one afterwards is shown.
    await opened(page, written("good.json", good));
    await page.getByRole("heading", { level: 2, name: "Greeter/greet" }).waitFor();
    expect(await problem.count()).toBe(0);
    await tab.close();
  });

  test("is opened when it is dropped", async () => {
    const id = await finished("Greeter/greet", "Ada");
    const tab = await ui.open(`invocations/${id}?tab=raw`);
    const { page } = tab;
    const text = readFileSync(await saved(page, "Save as a file"), "utf8");
    await page.goto(ui.at("invocations"));
    await page.getByRole("link", { name: "Open a file" }).click();
    const drop = page.getByText("Choose it or drop it here");
    await drop.waitFor();
    const data = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([content], "dropped.json"));
      return transfer;
    }, text);
    await drop.dispatchEvent("drop", { dataTransfer: data });
    await page.getByRole("heading", { level: 2, name: "Greeter/greet" }).waitFor();
    // By keyboard: the tabs of a file are those of its page.
    await page.getByRole("tab", { name: "Journal" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByText("No attempt failed.").waitFor();
    await expectSound(tab);
    await tab.close();
  });
});
