import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { hasBrowser } from "./_browser.ts";
import { expectSound } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const timeOf = (ms: number) => new Date(START_MS + ms).toISOString();

type Written = readonly [at: number, json: unknown];
const command = (at: number, type: string, fields: unknown = {}): Written => [
  at,
  { Command: { [type]: fields } },
];
const done = (at: number, id: number, result = "Success"): Written => [
  at,
  { Notification: { ty: { Completion: "X" }, id: { CompletionId: id }, result } },
];

/** Steps of all kinds: one that was tried again, a long wait, one that failed, one that is awaited. */
const JOURNAL: readonly Written[] = [
  command(0, "Input"),
  command(10, "Run", { completion_id: 1, name: "quote" }),
  done(60, 1),
  command(70, "Run", { completion_id: 2, name: "charge" }),
  done(400, 2),
  command(410, "Sleep", { completion_id: 3, name: "a day" }),
  done(86_400_410, 3),
  command(86_400_420, "Run", { completion_id: 4, name: "ship" }),
  done(86_400_500, 4, "Failure"),
  command(86_400_510, "SetState", { key: "ship" }),
  command(86_400_520, "GetPromise", { key: "approved", completion_id: 5 }),
];

/** A file of an invocation whose every moment is fixed, so that its picture is always the same. */
const FILE = JSON.stringify({
  ...{ format: "perdure-invocation", version: 1, exported_at: timeOf(86_401_000), server: "1" },
  ...{ has_values: false, state: [] },
  invocation: {
    ...{ id: "inv_1golden", target: "Shop/order", target_service_name: "Shop" },
    ...{ target_handler_name: "order", target_service_ty: "service", status: "suspended" },
    ...{ created_at: timeOf(-20), modified_at: timeOf(0), running_at: timeOf(0) },
    ...{ invoked_by: "ingress" },
  },
  journal: JOURNAL.map(([at, json], index) => ({
    ...{ index, entry_type: "Command: X", appended_at: timeOf(at) },
    entry_lite_json: JSON.stringify(json),
  })),
  events: [150, 250].map((at) => ({
    ...{ after_journal_entry_index: 3, appended_at: timeOf(at), event_type: "TransientError" },
    event_json: JSON.stringify({ error_message: "no answer", related_command_index: 2 }),
  })),
});

/** The picture of a page as text: each row with its words and, in thousandths, its bars. */
function pictureOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const barsOf = (svg: Element | null | undefined) =>
      [...svg?.querySelectorAll("rect") ?? []].map((rect) => {
        const [x, width] = ["x", "width"].map((name) =>
          Math.round(Number(rect.getAttribute(name) ?? 0))
        );
        const said = rect.closest("g")?.querySelector("title") ?? rect.querySelector("title");
        return `  ${rect.getAttribute("class")} ${x} +${width} ${said?.textContent ?? ""}`
          .trimEnd();
      });
    const lines = [...document.querySelectorAll("tbody tr")].flatMap((row) => {
      const words = [...row.querySelectorAll("th, td")].map((cell) =>
        cell.querySelector("svg.bar") ? "" : cell.textContent?.trim()
      );
      return [
        words.filter((word) => word !== "").join(" | "),
        ...barsOf(row.querySelector(".bar")),
      ];
    });
    const legend = document.querySelector(".legend .quiet")?.textContent ?? "";
    return [legend, "overview", ...barsOf(document.querySelector(".overview > svg")), ...lines, ""]
      .join("\n");
  });
}

describe.skipIf(!hasBrowser)("the picture of a journal", () => {
  const ui = useUi(undefined, { isRegistered: false });
  const opened = async (query: string) => {
    const tab = await ui.open(`file${query}`);
    await tab.page.getByLabel("A file of an invocation").setInputFiles({
      ...{ name: "golden.json", mimeType: "application/json", buffer: Buffer.from(FILE) },
    });
    await tab.page.getByRole("row", { name: /promise\("approved"\)/ }).waitFor();
    return tab;
  };

  for (
    const [name, query] of [
      ["folded", ""],
      ["true scale", "?fold=no"],
      ["a part", "?zoom=0-500"],
      ["up to the end", "?zoom=86400400-"],
    ] as const
  ) {
    test(`has its bars, attempts and folds in their places: ${name}`, async () => {
      const tab = await opened(query);
      const file = `golden/waterfall ${name}.txt`;
      await expect(await pictureOf(tab.page)).toMatchFileSnapshot(file);
      expect(tab.wrong).toEqual([]);
      await tab.close();
    });
  }

  test("is a table as well, and says what the time was spent with", async () => {
    const tab = await opened("");
    const { page } = tab;
    const facts = page.getByRole("main");
    for (
      const text of ["Busy", "270 ms", "Awaited results", "1 d", "Retried or paused", "250 ms"]
    ) {
      await facts.getByText(text, { exact: true }).first().waitFor();
    }
    await expectSound(tab);
    await tab.close();
  });
});
