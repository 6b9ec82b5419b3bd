import { describe, expect, test } from "vitest";
import { freePorts } from "../support/child.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, NARROW, soon } from "./_tab.ts";
import { useUi } from "./_ui.ts";

/** Of the first page, over the wire and with its data. */
const FIRST = { bytes: 75 * 1024, requests: 12 };

describe.skipIf(!hasBrowser)("the frame of the UI", () => {
  const ui = useUi();

  test("shows the services, within its budget", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.getByRole("row", { name: /Greeter/ }).first().waitFor();
    await soon(() => page.title()).toBe("Home · perdure");
    await tab.settled();
    expect(tab.requests.length).toBeLessThanOrEqual(FIRST.requests);
    const bytes = tab.requests.reduce((sum, request) => sum + request.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(FIRST.bytes);
    await expectSound(tab);
    await tab.close();
  });

  test("goes to pages by links, keys, the palette and the history, without loading anew", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    const heading = page.getByRole("heading", { level: 1 });
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    expect(page.url()).toBe(ui.at("settings"));
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("sett");
    await page.getByRole("option", { name: /Settings/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await soon(() => heading.count()).toBe(1);
    expect(tab.requests.filter(({ url }) => url.endsWith("/ui/")).length).toBe(1);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("does not move what is under its header as what is shown grows older", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    await page.locator(".live .age").waitFor();
    for (let width = 320; width <= 1_760; width += 40) {
      await page.setViewportSize({ width, height: 900 });
      const heights = await page.evaluate((ages) => {
        const header = document.querySelector<HTMLElement>("header.top")!;
        const age = header.querySelector(".live .age")!;
        return ages.map((text) => {
          age.innerHTML = `<span class="words">as of</span> ${text} <span class="words">ago</span>`;
          return header.offsetHeight;
        });
      }, ["0", "9.9 s", "59 s", "9 m 59 s"]);
      expect(new Set(heights).size, `${width}: ${heights.join(", ")}`).toBe(1);
    }
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("lists its keys, which can be switched off", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    await page.getByRole("group", { name: "Theme" }).waitFor();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keys" });
    await sheet.getByText("Go to Settings").waitFor();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "hidden" });
    await page.getByRole("group", { name: "Keys without Ctrl" }).getByLabel("Off").check();
    await page.reload();
    await page.getByRole("group", { name: "Theme" }).waitFor();
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Go to" }).waitFor();
    await soon(() => sheet.isVisible()).toBe(false);
    await tab.close();
  });

  test("keeps what is chosen, and says what the server cannot do", async () => {
    const tab = await ui.open("settings", { colorScheme: "light" });
    const { page } = tab;
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByRole("group", { name: "Theme" }).getByLabel("Dark").check();
    expect(await background()).not.toBe(light);
    await page.reload();
    await page.getByRole("heading", { name: "This server" }).waitFor();
    expect(await background()).not.toBe(light);
    await page.getByText("Go to Invocations").waitFor();
    await page.getByRole("group", { name: "Refresh" }).getByLabel("When it is asked for").check();
    await page.getByRole("button", { name: /^paused/ }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: /^paused/ }).waitFor();
    await page.getByRole("group", { name: "Refresh" }).getByLabel("As things change").check();
    await page.getByRole("button", { name: /^live/ }).waitFor();
    await page.getByText(isReference ? /^1\.7\./ : /-perdure\./).first().waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("pauses, and says how old what it shows is", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    await page.getByRole("button", { name: /live.*as of/ }).click();
    await page.getByRole("button", { name: /paused/ }).waitFor();
    await page.getByRole("button", { name: /paused/ }).click();
    await page.getByRole("button", { name: /live/ }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("says how old what it shows is on any screen", async () => {
    const tab = await ui.open("", { viewport: NARROW });
    const age = tab.page.getByRole("button", { name: /live as of (now|\d.* ago)/ })
      .locator(".age");
    await age.waitFor();
    const { width = 0 } = await age.boundingBox() ?? {};
    expect(width).toBeGreaterThan(8);
    await expectSound(tab);
    await tab.close();
  });

  test("pages say so in place where a server answers no SQL", async () => {
    const tab = await ui.open("settings", { allowed: [404] });
    const { page } = tab;
    await page.context().route("**/query", (route) => route.fulfill({ status: 404, body: "" }));
    // In front of the reference, whose flow control is off, the page of limits asks nothing by SQL.
    const ofFlow = isReference ? [] : ["limits"];
    for (const name of ["", "invocations", "objects", "workflows", "services", ...ofFlow]) {
      await page.goto(ui.at(name));
      await page.getByRole("alert").getByText("This server answers no SQL").first().waitFor();
      await expectSound(tab);
    }
    await tab.close();
  });

  test("asks again what the server is, if it did not say so", async () => {
    // Without tokens nobody can sign in: of a server that asks for some, 404 is said by none.
    const tab = await ui.open("settings", { allowed: [503, 404] });
    const { page } = tab;
    let refusals = 2;
    await page.route(
      "**/version",
      (route) =>
        refusals-- > 0
          ? route.fulfill({ status: 503, body: '{"message":"not yet"}' })
          : route.continue(),
    );
    // As of a server that wants a token, or of another one: they do not say it in the page.
    await page.route(ui.at("limits"), async (route) => {
      const body = await (await route.fetch()).text();
      await route.fulfill({ body: body.replace(/<meta name="server"[^>]*>/, "") });
    });
    await page.goto(ui.at("limits"));
    await page.getByRole("alert").getByText("not yet").waitFor();
    await page.getByRole("heading", { level: 1, name: "Limits" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("draws its frame without a page that takes long to load, and the page behind it", async () => {
    const tab = await ui.open("settings");
    const { page } = tab;
    const held: (() => void)[] = [];
    await page.route(/\/assets\/objects-/, async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.goto(ui.at("objects"), { waitUntil: "commit" });
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.getByText("Loading…").waitFor();
    held.splice(0).forEach((release) => release());
    await page.getByRole("heading", { level: 1, name: "Objects" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("opens an id that is pasted anywhere", async () => {
    const tab = await ui.open("services");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Services" }).waitFor();
    const paste = (text: string) =>
      page.evaluate((text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text", text);
        document.dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
      }, text);
    await paste("some text");
    expect(page.url()).toBe(ui.at("services"));
    await paste(" dp_1x\n");
    await page.waitForURL(ui.at("deployments/dp_1x"));
    await tab.close();
  });

  test("the palette searches in states and in all invocations for what is no name", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    for (const kind of ["states of objects", "states of workflows", "invocations"]) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").fill("card declined");
      await page.getByRole("option", { name: `“card declined” in ${kind}` }).click();
      await page.getByText("No ").first().waitFor();
    }
    expect(page.url()).toBe(ui.at("invocations?filter=%22card+declined%22"));
    // It is drawn after its address is there.
    await page.getByLabel("Order").waitFor();
    await page.keyboard.press(".");
    expect(await page.evaluate(() => document.activeElement?.closest(".actions") !== null)).toBe(
      true,
    );
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("the palette does what a page can do, and what every page can", async () => {
    const tab = await ui.open("sql");
    const { page } = tab;
    await page.getByRole("textbox", { name: "Statement" }).waitFor();
    const action = async (typed: string, name: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Page, id, service, key or action" }).fill(typed);
      await page.getByRole("option", { name, exact: true }).waitFor();
      await page.keyboard.press("Enter");
    };
    await action("run the", "Run the statement sql");
    await page.getByRole("region", { name: "Result" }).waitFor();
    await action("theme: da", "Theme: dark action");
    await page.locator("html[data-theme=dark]").waitFor();
    await action("register", "Register a deployment action");
    await page.getByRole("dialog", { name: "Register a deployment" }).waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("the palette finds objects by any key, one that no path can have as well", async () => {
    const tab = await ui.open("");
    const { page } = tab;
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("Counter/..");
    await page.getByRole("option", { name: "Counter/.. key" }).click();
    await page.getByRole("heading", { level: 1, name: "Objects / Counter / .." }).waitFor();
    expect(tab.page.url()).toBe(ui.at("objects/Counter?key=.."));
    await tab.close();
  });

  test("says that a page does not exist, at any depth", async () => {
    const tab = await ui.open("no/such/page");
    await tab.page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
    await tab.page.getByRole("link", { name: "Home", exact: true }).first().click();
    await tab.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    expect(tab.page.url()).toBe(ui.at(""));
    await expectSound(tab);
    await tab.close();
  });
});

describe.skipIf(!hasBrowser)("without a deployment", () => {
  const ui = useUi(undefined, { isRegistered: false });

  test("the first page has the command that registers one", async () => {
    const tab = await ui.open("");
    await tab.page.getByText(`curl ${ui.server.admin}/deployments`).waitFor();
    await expectSound(tab);
    await tab.close();
  });

  test("waits for an endpoint, and shows what it would register as soon as it answers", async () => {
    const [port] = await freePorts(1);
    const tab = await ui.open("", { allowed: [500] });
    const { page } = tab;
    await page.getByLabel("Address of the endpoint").fill(`http://127.0.0.1:${port}`);
    await page.getByRole("button", { name: "Wait for it" }).click();
    await page.getByRole("status").getByText(/Waiting for an endpoint .*META0003|Waiting .* reach/)
      .waitFor();
    await expectSound(tab);
    await page.getByLabel("Address of the endpoint").fill(ui.endpoint.url);
    await page.getByRole("button", { name: "Wait for it" }).click();
    const dialog = page.getByRole("dialog", { name: "Register a deployment" });
    await soon(() => dialog.getByLabel("Address of the endpoint").inputValue()).toBe(
      ui.endpoint.url,
    );
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });
});
