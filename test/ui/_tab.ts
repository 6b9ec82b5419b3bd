import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { until } from "../support/child.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;
/** The stream of hints, which does not end. */
const HINTS = "/internal/ui/events";
/** What the console says of requests that are seen by their answers, or by their failure. */
const COUNTED = /^Failed to load resource: (the server responded with a status of \d{3}|net::ERR_)/;
/** Longer than any answer of a server of a test. */
export const SHOWN_MS = 20_000;

export const WIDE = { width: 1440, height: 900 };
export const NARROW = { width: 360, height: 800 };

/** A request that was answered. */
export interface Asked {
  readonly url: string;
  /** What was sent, if it was text. */
  readonly body: string;
  /** Of the answer. */
  readonly bytes: number;
}

/** A page of the UI, with everything that went wrong in it. */
export interface Tab {
  readonly page: Page;
  /** Errors of the console, uncaught errors, requests that failed or left this machine. */
  readonly wrong: readonly string[];
  /** Requests that were answered, with their sizes on the wire in bytes. */
  readonly requests: readonly Asked[];
  /** Waits until every request was answered, but for the stream of hints, which stays open. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface TabOptions extends BrowserContextOptions {
  /** Statuses that the page is expected to get, such as the 404 of what does not exist. */
  readonly allowed?: readonly number[];
}

/** Opens a page of the UI. Requests may go to this machine only. */
export async function openTab(
  browser: Browser,
  url: string,
  { allowed = [], ...options }: TabOptions = {},
): Promise<Tab> {
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(SHOWN_MS);
  const page = await context.newPage();
  const wrong: string[] = [];
  const requests: Asked[] = [];
  await context.route("**/*", async (route) => {
    const { hostname } = new URL(route.request().url());
    if (LOOPBACK.test(hostname)) return await route.continue();
    wrong.push(`left this machine: ${route.request().url()}`);
    await route.abort();
  });
  page.on("pageerror", (error) => wrong.push(`uncaught: ${error.message}`));
  page.on("console", (message) => {
    // The browser says so of every refused or failed request; those are counted below.
    if (message.type() !== "error" || COUNTED.test(message.text())) return;
    wrong.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    const { errorText = "" } = request.failure() ?? {};
    // Aborted: nothing shows what was asked for any more.
    if (errorText === "net::ERR_ABORTED" || request.url().endsWith(HINTS)) return;
    wrong.push(`${errorText}: ${request.url()}`);
  });
  // `requestfinished` does not come for a body that nothing reads.
  page.on("response", (response) => {
    if (response.status() < 400 || allowed.includes(response.status())) return;
    wrong.push(`${response.status()}: ${response.url()} ${response.request().postData() ?? ""}`);
  });
  const open = await measure(page, requests);
  await page.goto(url);
  const settled = () => until("all requests to be answered", () => open.size === 0);
  return { page, wrong, requests, settled, close: () => closeTab(page) };
}

/** A request that the page makes now may be in the hands of a test, whose answer nobody reads any more. */
async function closeTab(page: Page): Promise<void> {
  // First: what a test lets go of goes on to the route of the tab, which it may have answered already.
  await page.context().unrouteAll({ behavior: "ignoreErrors" });
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.context().close();
}

/** Sizes as they were on the wire: with headers, compressed. Returns the ids of those that are open. */
async function measure(
  page: Page,
  requests: Asked[],
): Promise<ReadonlySet<string>> {
  const session = await page.context().newCDPSession(page);
  const sent = new Map<string, Omit<Asked, "bytes">>();
  const open = new Set<string>();
  session.on("Network.requestWillBeSent", ({ requestId, request, type }) => {
    // Of what the page before still asked for, nothing is heard any more.
    if (type === "Document") open.clear();
    const { url, postData: body = "" } = request;
    if (url.endsWith(HINTS) || !url.startsWith("http")) return;
    sent.set(requestId, { url, body });
    open.add(requestId);
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength: bytes }) => {
    const asked = sent.get(requestId);
    if (asked) requests.push({ ...asked, bytes });
    open.delete(requestId);
  });
  session.on("Network.loadingFailed", ({ requestId }) => void open.delete(requestId));
  await session.send("Network.enable");
  return open;
}

/** Rules whose outcome depends on colors. */
const OF_COLORS = ["color-contrast", "link-in-text-block"];
const ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe finds wrong with a page as it is now, by rule and element. `runOnly`: tags or rules. */
async function violations(page: Page, runOnly: readonly string[]): Promise<string[]> {
  // By the debugger: the policy of the page forbids any script but its own.
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(AXE);
  return await page.evaluate(async (runOnly) => {
    type Found = {
      violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
    };
    const { axe } = globalThis as unknown as { axe: { run(options: unknown): Promise<Found> } };
    const found = await axe.run({ runOnly });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`)
    );
  }, runOnly);
}

/**
 * Everything that any page must keep: nothing went wrong, axe finds nothing in light and dark, and
 * nothing is wider than the screen at 360 and 1440 px.
 */
export async function expectSound({ page, wrong }: Tab): Promise<void> {
  // Further down the header covers a part of something, which axe takes for a target that is too small.
  await page.evaluate(() => scrollTo(0, 0));
  for (const [colorScheme, rules] of [["light", ALL], ["dark", OF_COLORS]] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page, rules), colorScheme).toEqual([]);
  }
  for (const viewport of [NARROW, WIDE]) {
    await page.setViewportSize(viewport);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, `at ${viewport.width} px`).toBeLessThanOrEqual(viewport.width);
  }
  expect(wrong).toEqual([]);
}

/**
 * An assertion of what a page shows, which may need a moment: `await soon(() => row.count()).toBe(2)`.
 * Fails after {@link SHOWN_MS}, with what was shown last.
 */
export function soon<T>(read: () => Promise<T>, message?: string) {
  return expect.poll(read, { timeout: SHOWN_MS, interval: 50, ...(message && { message }) });
}
