import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { call, send } from "../support/client.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { expectSound, openTab } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const PAGES = ["", "invocations", "services/Greeter", "limits", "settings"];
const HUGE = { width: 3840, height: 2160 };
const PREFIX = "/tools/perdure";

describe.skipIf(!hasBrowser)("the UI for people who see otherwise", () => {
  const ui = useUi(async ({ server }) => {
    await call(server, "Greeter/greet", "Ada");
    await call(server, "Greeter/refuse", "no");
    await send(server, "Greeter/flaky", { id: "never", failures: 1e6 });
  });

  test("has more contrast where that is asked for, by the system or by a setting", async () => {
    const tab = await ui.open("", { contrast: "more" });
    const { page } = tab;
    const ink = () => page.evaluate(() => getComputedStyle(document.body).color);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await ink()).toBe("rgb(0, 0, 0)");
    for (const name of PAGES) {
      await page.goto(ui.at(name));
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expectSound(tab);
    }
    await page.emulateMedia({ contrast: "no-preference", colorScheme: "light" });
    expect(await ink()).not.toBe("rgb(0, 0, 0)");
    await page.getByRole("group", { name: "Contrast" }).getByLabel("More").check();
    expect(await ink()).toBe("rgb(0, 0, 0)");
    await tab.close();
  });

  test("keeps its marks where the system has its own colors", async () => {
    const tab = await ui.open("invocations", { forcedColors: "active" });
    const { page } = tab;
    const outline = (selector: string) =>
      page.locator(selector).first().evaluate((element) => getComputedStyle(element).outlineStyle);
    await page.getByRole("row", { name: /Greeter\/flaky/ }).waitFor();
    expect(await outline("[aria-current=page]")).toBe("solid");
    for (const key of ["j", "x"]) await page.keyboard.press(key);
    await page.getByText("1 selected").waitFor();
    expect(await outline("tr.selected")).toBe("solid");
    await expectSound(tab);
    await tab.close();
  });

  test("moves nothing where that is asked for", async () => {
    const tab = await ui.open("settings", { reducedMotion: "no-preference" });
    const { page } = tab;
    await page.getByRole("group", { name: "Motion" }).getByLabel("None").check();
    const moving = () =>
      page.evaluate(() =>
        document.getAnimations().length + document.querySelectorAll("blink").length
      );
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    expect(await moving()).toBe(0);
    await tab.close();
  });

  test("fits a screen of 4K", async () => {
    const tab = await ui.open("", { viewport: HUGE });
    for (const name of PAGES) {
      await tab.page.goto(ui.at(name));
      await tab.page.getByRole("heading", { level: 1 }).waitFor();
      const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(HUGE.width);
    }
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser)("the UI behind a proxy", () => {
  const ui = useUi(async ({ server }) => void await call(server, "Greeter/greet", "Ada"));

  /** Passes on everything below the prefix, and nothing else. */
  async function startProxy(): Promise<Server> {
    const proxy = createServer((asked, answer) => {
      const { method, headers, url = "/" } = asked;
      if (!url.startsWith(`${PREFIX}/`)) return void answer.writeHead(404).end();
      const onward = request(
        ui.server.admin + url.slice(PREFIX.length),
        { method, headers },
        (got) => {
          answer.writeHead(got.statusCode ?? 502, got.headers);
          got.pipe(answer);
        },
      );
      onward.on("error", () => answer.destroy());
      asked.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  test("works below any prefix: pages, links, reloads, requests and changes", async () => {
    const [proxy, browser] = await Promise.all([startProxy(), openBrowser()]);
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const tab = await openTab(browser, `${origin}${PREFIX}/`);
      const { page } = tab;
      await page.getByRole("row", { name: /Greeter/ }).first().waitFor();
      expect(page.url()).toBe(`${origin}${PREFIX}/ui/`);
      await page.keyboard.press("g");
      await page.keyboard.press("i");
      await page.getByRole("row", { name: /Greeter\/greet/ }).getByRole("link").click();
      await page.getByRole("heading", { level: 1, name: "Greeter/greet" }).waitFor();
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Greeter/greet" }).waitFor();
      await page.getByRole("button", { name: "Restart" }).click();
      await page.getByText("Restarts", { exact: true }).waitFor();
      expect(page.url()).toMatch(new RegExp(`^${origin}${PREFIX}/ui/invocations/inv_`));
      expect(tab.requests.every(({ url }) => url.startsWith(`${origin}${PREFIX}/`))).toBe(true);
      expect(tab.wrong).toEqual([]);
      await tab.close();
    } finally {
      await browser.close();
      proxy.close().closeAllConnections();
    }
  });
});
