import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import type { Endpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";
import { openBrowser } from "./_browser.ts";
import { type Seeded, seeded, type SeedOptions } from "./_seeded.ts";
import { openTab, type Tab, type TabOptions } from "./_tab.ts";

/** For a build of the UI, a server, an endpoint and a browser, on a machine that is busy. */
export const START_MS = 60_000;
/** As `npm test` gives every test, also where a file is run by itself beside other work. */
const TEST_MS = 30_000;

/** Of a page that a failed test leaves open, so many characters are printed. */
const TEXT_CHARS = 3_000;

vi.setConfig({ testTimeout: TEST_MS });

/** A browser, and a server with an endpoint behind its pages. */
export class Ui {
  #started: { readonly browser: Browser; readonly world: Seeded } | undefined;
  /** Opened by the test that runs. */
  #tabs: Tab[] = [];

  async start(options: SeedOptions = {}): Promise<this> {
    const [browser, world] = await Promise.all([openBrowser(), seeded(options)]);
    this.#started = { browser, world };
    return this;
  }

  async close(): Promise<void> {
    await Promise.all([this.#started?.browser.close(), this.#started?.world.close()]);
  }

  get server(): Server {
    return this.#parts().world.server;
  }

  get endpoint(): Endpoint {
    return this.#parts().world.endpoint;
  }

  /** The URL of a page, such as `invocations?filter=…`. */
  at(page: string): string {
    return this.#parts().world.at(page);
  }

  /** Opens a page in a tab of its own, which the test closes. */
  async open(page: string, options?: TabOptions): Promise<Tab> {
    const tab = await openTab(this.#parts().browser, this.at(page), options);
    this.#tabs.push(tab);
    return tab;
  }

  /** Says what the tabs that a test has left open show, if it failed, and closes them. */
  async left({ isFailed }: { readonly isFailed: boolean }): Promise<void> {
    for (const { page, wrong } of this.#tabs.splice(0)) {
      if (isFailed && !page.isClosed()) {
        const text = await page.innerText("body", { timeout: 2_000 }).catch(String);
        console.error(`${page.url()} shows:\n${text.slice(0, TEXT_CHARS)}`, wrong);
      }
      await page.context().close();
    }
  }

  #parts() {
    if (!this.#started) throw new Error("Cannot open a page: nothing is started");
    return this.#started;
  }
}

/**
 * Starts a UI before the tests of a `describe` and ends it behind them. `fill`: calls handlers before
 * the first test. Answers at once; what it answers is used in tests only.
 */
export function useUi(fill?: (ui: Ui) => Promise<void>, options?: SeedOptions): Ui {
  const ui = new Ui();
  beforeAll(async () => {
    await ui.start(options);
    await fill?.(ui);
  }, START_MS);
  afterEach(({ task }) => ui.left({ isFailed: task.result?.state === "fail" }));
  afterAll(() => ui.close());
  return ui;
}
