import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, manage, register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, openTab, SHOWN_MS } from "./_tab.ts";
import { START_MS } from "./_ui.ts";

const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];
const CLOCK = pathToFileURL(path.join(import.meta.dirname, "_clock.mjs")).href;

/** How many calls were made how long ago. One of the oldest fails. */
const AGES = [
  { agoMs: 3 * DAY_MS, calls: 3 },
  { agoMs: 3 * HOUR_MS, calls: 4 },
  { agoMs: 0, calls: 5 },
];

// Only its clock can be set: the reference is a program without Node.
describe.skipIf(!hasBrowser || isReference)(
  "figures of an hour, a day and all that is kept",
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clock-"));
    const clock = path.join(folder, "clock");
    let endpoint: Endpoint;
    let server: Server;
    let browser: Browser;

    beforeAll(async () => {
      writeFileSync(clock, String(AGES[0]!.agoMs));
      const env = { NODE_OPTIONS: `--import ${CLOCK}`, CLOCK_FILE: clock };
      [server, endpoint, browser] = await Promise.all([
        startServer({ runtime: "node", env }),
        startEndpoint("h2"),
        openBrowser(),
      ]);
      await register(server, endpoint);
      await manage(server, "PATCH /services/Greeter", { journal_retention: "30d" });
      await call(server, "Greeter/refuse", "no");
      for (const { agoMs, calls } of AGES) {
        if (agoMs !== AGES[0]!.agoMs) {
          await server.stop("SIGTERM");
          writeFileSync(clock, String(agoMs));
          await server.start();
        }
        for (let at = 0; at < calls; at++) await call(server, "Greeter/greet", `${at}`);
      }
    }, START_MS);
    afterAll(async () => {
      await Promise.all([browser?.close(), server?.close(), endpoint?.close()]);
      rmSync(folder, { recursive: true, force: true });
    });

    const shown = async (page: Page, count: number) => {
      for (const title of ["Ended per", "From call to result"]) {
        const name = new RegExp(`^${title}.*: ${count} invocations`);
        await page.getByRole("img", { name }).waitFor();
      }
    };

    test("of a service are of what ended in that time, and their tables as well", async () => {
      const tab = await openTab(browser, `${server.admin}/ui/services/Greeter`);
      const { page } = tab;
      await shown(page, 5);
      await page.getByLabel("Last day").check();
      await shown(page, 9);
      await page.getByLabel("All that is kept").check();
      await shown(page, 13);
      await page.reload();
      await shown(page, 13);
      await page.getByText(/^Ended per .* as a table$/).click();
      const twin = page.getByRole("table").filter({ hasText: "of them failed" });
      const sumOf = async (column: number) =>
        (await twin.locator(`tbody td:nth-child(${column})`).allTextContents())
          .reduce((sum, text) => sum + Number(text), 0);
      const sums = async () => [await sumOf(2), await sumOf(3)];
      await expect.poll(sums, { timeout: SHOWN_MS }).toEqual([13, 1]);
      await expectSound(tab);
      await tab.close();
    });

    test("of all services are on Home, by the hour and the day", async () => {
      const tab = await openTab(browser, `${server.admin}/ui/`);
      const { page } = tab;
      const region = page.getByRole("region", { name: "Throughput" });
      await region.getByRole("img", { name: "Completed in the last hour: 5" }).waitFor();
      await region.getByText("5 completed").waitFor();
      await region.getByLabel("Last day").check();
      await region.getByRole("img", { name: "Completed in the last day: 9" }).waitFor();
      await region.getByText("accepted more than two days ago").waitFor();
      await page.waitForURL(/range=day/);
      // What is of the last hour by its name stays so.
      await page.getByRole("img", { name: "Greeter: 5 completed in the last hour" }).waitFor();
      await page.reload();
      await region.getByText("9 completed").waitFor();
      await expectSound(tab);
      await tab.close();
    });
  },
);
