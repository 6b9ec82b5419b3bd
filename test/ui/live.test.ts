import type { Request } from "playwright-core";
import { describe, expect, test } from "vitest";
import { call, operate, send, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import { idOf } from "../conformance/_world.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { SHOWN_MS, type Tab } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const EVENTS = /\/internal\/ui\/events$/;
/** Shorter than the time between two polls of any page that hears of changes. */
const SOON_MS = 10_000;

// The reference sends no hints.
describe.skipIf(!hasBrowser || isReference)("live updates of the UI", () => {
  const ui = useUi();

  /** A tab that hears of changes, and has asked for all that it shows. */
  async function listening(): Promise<Tab> {
    const tab = await ui.open("");
    await tab.page.waitForResponse(EVENTS);
    return tab;
  }

  const isQuery = (request: Request) => request.url().endsWith("/query");

  test("a page asks again when something has changed", async () => {
    const { page, wrong, close } = await listening();
    let queries = 0;
    page.on("request", (request) => queries += isQuery(request) ? 1 : 0);
    // The first hint, that anything may have changed, is worth one at most. Partitions tell of changes
    // after their first answer, which nothing shows.
    await until("requests after changes", async () => {
      await call(ui.server, "Greeter/greet", "Ada");
      return queries > 2;
    }, SOON_MS);
    expect(wrong).toEqual([]);
    await close();
  });

  test("a page about one thing does not ask again when others change", async () => {
    await value(ui.server, "Counter/alone/add", 1);
    const id = idOf(await send(ui.server, "Waiter/awakeables", { id: "alone", count: 1 }));
    await ui.endpoint.announces("alone awakeable 0");
    const count = async (name: string) => {
      const tab = await ui.open(name);
      await tab.page.waitForResponse(EVENTS);
      let queries = 0;
      tab.page.on("request", (request) => queries += isQuery(request) ? 1 : 0);
      return { ...tab, queries: () => queries };
    };
    const [object, invocation, home] = [
      await count("objects/Counter/alone"),
      await count(`invocations/${id}`),
      await count(""),
    ];
    await until("requests of Home", async () => {
      await call(ui.server, "Greeter/greet", "Ada");
      return home.queries() > 20;
    }, SHOWN_MS);
    // Each may have been polled in between, once, and has heard that anything may have changed.
    for (const { queries } of [object, invocation]) expect(queries()).toBeLessThan(20);
    await value(ui.server, "Counter/alone/add", 2);
    await object.page.getByRole("region", { name: "State" }).getByText("3", { exact: true })
      .waitFor();
    await operate(ui.server, "kill", id);
    await invocation.page.locator(".sentence").getByText("killed").first().waitFor();
    for (const { wrong, close } of [object, invocation, home]) {
      expect(wrong).toEqual([]);
      await close();
    }
  });

  test("a page that is paused hears nothing", async () => {
    const { page, close } = await listening();
    const ended = page.waitForEvent("requestfailed", (request) => EVENTS.test(request.url()));
    await page.getByRole("button", { name: /live/ }).click();
    await ended;
    const again = page.waitForResponse(EVENTS);
    await page.getByRole("button", { name: /paused/ }).click();
    await again;
    await close();
  });

  test("a server that ends does not wait for its readers, who come back", async () => {
    const { page, close } = await listening();
    expect(await ui.server.stop("SIGTERM")).toBe(0);
    await page.getByRole("button", { name: /no answer/ }).waitFor();
    const again = page.waitForResponse(EVENTS);
    await ui.server.start();
    await again;
    await page.getByRole("button", { name: /live/ }).waitFor();
    await close();
  });
});
