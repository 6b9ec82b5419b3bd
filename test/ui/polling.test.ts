import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { useUi } from "./_ui.ts";

const EVENTS = /\/internal\/ui\/events$/;
const [SECOND_MS, MINUTE_MS] = [1_000, 60_000];

/** What is open by service, which the page of services reads every 5 s. */
const OPEN = /status <> 'completed'/;
/** What has ended by service, which it reads every 15 s. */
const ENDED = /percent|row_number\(\)/;
/** One invocation, which its page reads every second while it is open. */
const ONE = /FROM sys_invocation WHERE id = /;
const ANY = /./;

const hide = (page: Page, isHidden: boolean) =>
  page.evaluate((hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

describe.skipIf(!hasBrowser)("polling, where nothing tells of changes", () => {
  const ui = useUi();

  /** A tab that gets no hints, whose clock is the test's and stands. */
  async function polling(name: string) {
    const tab = await ui.open("settings", { allowed: [404, 503] });
    const { page } = tab;
    await page.clock.install();
    await page.route(EVENTS, (route) => route.fulfill({ status: 404, body: "" }));
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/query")) asked.push(request.postData() ?? "");
    });
    await page.goto(ui.at(name));
    await page.getByText("Loading…").waitFor({ state: "detached" });
    await tab.settled();
    const times = (what: RegExp) => asked.filter((text) => what.test(text)).length;
    await until("what it polls to be read", () => times(ANY) > 1);
    // All that is polled is read then, and not again before its time.
    await page.clock.pauseAt(await page.evaluate(() => Date.now()) + MINUTE_MS * 10);
    /** Waits until what the clock has begun is answered, and read. */
    const answered = async () => {
      await page.evaluate(() => {});
      await tab.settled();
      await page.evaluate(() => {});
    };
    /** Requests of a kind while so much time passes. */
    const within = async (ms: number, what = ANY) => {
      const before = times(what);
      for (let at = 0; at < ms; at += SECOND_MS) {
        await page.clock.runFor(SECOND_MS);
        await answered();
      }
      return times(what) - before;
    };
    await answered();
    return { ...tab, within, times, answered };
  }

  /** Lets requests of a kind wait. `release` answers those that do, and all that follow. */
  async function holding(page: Page, what: RegExp) {
    const held: (() => void)[] = [];
    let isOver = false;
    await page.route("**/query", async (route) => {
      if (!isOver && what.test(route.request().postData() ?? "")) {
        await new Promise<void>((resolve) => held.push(resolve));
      }
      await route.continue();
    });
    const release = () => {
      isOver = true;
      for (const go of held) go();
    };
    return { held, release };
  }

  test("is every 5 s for a list, and every 15 s for what covers hours", async () => {
    const { within, times, wrong, close } = await polling("services");
    const before = times(ENDED);
    expect(await within(MINUTE_MS, OPEN)).toBe(12);
    expect(times(ENDED) - before).toBe(4);
    expect(wrong).toEqual([]);
    await close();
  });

  test("is every second for an invocation that is open", async () => {
    const id = idOf(await send(ui.server, "Greeter/hang", "polled"));
    const { within, wrong, close } = await polling(`invocations/${id}`);
    expect(await within(10 * SECOND_MS, ONE)).toBe(10);
    expect(wrong).toEqual([]);
    await close();
  });

  test("doubles its pauses at each failure, up to 16 times, and is as before at a success", async () => {
    const { page, within, close } = await polling("services");
    const fails = (isFailing: boolean) =>
      isFailing
        ? page.route("**/query", (route) => route.fulfill({ status: 503, body: "{}" }))
        : page.unroute("**/query");
    await fails(true);
    // At 5, 15, 35, 75 and 155 s, then every 80 s.
    const counts = [];
    for (const seconds of [5, 10, 20, 40, 80]) {
      counts.push(await within((seconds - 1) * SECOND_MS, OPEN), await within(SECOND_MS, OPEN));
    }
    expect(counts).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    expect(await within(79 * SECOND_MS, OPEN)).toBe(0);
    await fails(false);
    expect(await within(SECOND_MS, OPEN)).toBe(1);
    expect(await within(10 * SECOND_MS, OPEN)).toBe(2);
    await close();
  });

  test("pauses five times as long as an answer took", async () => {
    const { page, within, answered, wrong, close } = await polling("services");
    const { held, release } = await holding(page, OPEN);
    await page.clock.runFor(5 * SECOND_MS);
    await until("the request", () => held.length === 1);
    await page.clock.runFor(4 * SECOND_MS);
    release();
    await answered();
    expect(await within(19 * SECOND_MS, OPEN)).toBe(0);
    expect(await within(2 * SECOND_MS, OPEN)).toBe(1);
    expect(wrong).toEqual([]);
    await close();
  });

  test("a statement has at most one request in flight, which all of its readers share", async () => {
    const { page, times, within, wrong, close } = await polling("services");
    const { held, release } = await holding(page, OPEN);
    const before = times(OPEN);
    for (let i = 0; i < 5; i++) {
      await hide(page, true);
      await hide(page, false);
    }
    await until("a request", () => held.length > 0);
    await page.clock.runFor(MINUTE_MS);
    expect(times(OPEN) - before).toBe(1);
    // What it answers may be older than what was asked for last, so one more follows.
    release();
    await until("another one", () => times(OPEN) - before > 1);
    await within(SECOND_MS);
    expect(times(OPEN) - before).toBe(2);
    expect(wrong).toEqual([]);
    await close();
  });

  test("asks for nothing in a hidden tab, and at once when it is seen again", async () => {
    const { page, within, close } = await polling("services");
    await hide(page, true);
    // One may be under way.
    await within(SECOND_MS);
    expect(await within(MINUTE_MS)).toBe(0);
    const seen = page.waitForRequest(/\/query$/);
    await hide(page, false);
    await seen;
    await close();
  });
});
