import path from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePorts } from "../support/child.ts";
import { call, query, register, send, value } from "../support/client.ts";
import { Endpoint } from "../support/endpoint.ts";
import type { Server } from "../support/server.ts";
import { hasBrowser } from "./_browser.ts";
import { press, tabTo } from "./_keys.ts";
import { isReference, type Runtime } from "./_seeded.ts";
import { expectSound, soon, type Tab } from "./_tab.ts";
import { START_MS, Ui } from "./_ui.ts";

const SCRIPT = path.join(import.meta.dirname, "_payments.mjs");
const ORDERS = ["o1", "o2", "o3"];
const REASON = "no currency of <b>order</b>";
/** The walk has some 150 keys, each with an answer of the browser. */
const WALK_MS = 90_000;

async function startPayments(build: "first" | "broken" | "mended"): Promise<Endpoint> {
  const [port = 0] = await freePorts(1);
  const endpoint = new Endpoint("h2", port, { script: SCRIPT });
  if (build !== "broken") endpoint.release(build);
  await endpoint.start();
  return endpoint;
}

/**
 * The way of an incident at a server of a runtime: a handler fails after a deployment, its cause is found,
 * it is mended, and what it has stopped goes on. The reference does not say in a column what has paused an
 * invocation.
 */
export function incidentOn(runtime: Runtime): void {
  describe.skipIf(!hasBrowser || isReference)(
    `an incident, by keyboard alone, on ${runtime}`,
    () => walkOn(runtime),
  );
}

function walkOn(runtime: Runtime): void {
  let first: Endpoint;
  let broken: Endpoint;
  let mended: Endpoint;
  let ui: Ui;
  // A world for each run of the walk, which changes all of it.
  beforeEach(async () => {
    ui = new Ui();
    await ui.start({ runtime });
    [first, broken, mended] = await Promise.all([
      startPayments("first"),
      startPayments("broken"),
      startPayments("mended"),
    ]);
    await register(ui.server, first);
  }, START_MS);
  afterEach(() => Promise.all([ui.close(), first?.close(), broken?.close(), mended?.close()]));

  test("is seen, understood, mended and over", { timeout: WALK_MS }, async () => {
    await walk(await ui.open(""), { server: ui.server, broken, mended });
  });
}

interface Incident {
  readonly server: Server;
  readonly broken: Endpoint;
  readonly mended: Endpoint;
}

/** The whole way, from Home to Home. */
async function walk(tab: Tab, { server, broken, mended }: Incident): Promise<void> {
  const { page } = tab;
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("Nothing: nothing fails").waitFor();
  expect(await value(server, "Payments/charge", "o0")).toBe("charged o0");
  await register(server, broken);
  const cause = attention.getByRole("listitem").filter({ hasText: "Payments/charge" });
  const [order = "", ...others] = ORDERS;
  await send(server, "Payments/charge", order);
  // How soon that is, `test/bench/ui.mjs` asserts: here other tests share the machine.
  await cause.getByText(REASON).waitFor();
  for (const order of others) await send(server, "Payments/charge", order);
  await call(server, "Payments/refund", "o0");
  await cause.getByText("3 invocations").waitFor();
  await cause.getByText("paused").first().waitFor();
  await expectSound(tab);
  await understand(tab);
  await mend(tab, broken, mended);
  await goOn(page);
  await expect.poll(() => statuses(server)).toEqual([
    ...Array(4).fill("success"),
    "failure",
    "success",
  ]);
  await press(page, "g", "h");
  await attention.getByText("Nothing: nothing fails").waitFor();
  await expectSound(tab);
  await tab.close();
}

/** What became of each invocation, in the order in which they came. */
async function statuses(server: Server): Promise<unknown[]> {
  const rows = await query(
    server,
    "SELECT status, completion_result AS result FROM sys_invocation ORDER BY created_at",
  );
  return rows.map(({ status, result }) => result ?? status);
}

/** From the cause to the list of what has it, to one of them, and to the step that fails. */
async function understand(tab: Tab): Promise<void> {
  const { page } = tab;
  await tabTo(page, /^Show Payments\/charge/);
  await press(page, "Enter");
  await page.getByRole("heading", { level: 1, name: "Invocations" }).waitFor();
  await page.getByRole("row", { name: /paused/ }).nth(2).waitFor();
  await soon(() => page.getByRole("row").count()).toBe(1 + ORDERS.length);
  await press(page, "j", "Enter");
  await page.getByRole("heading", { level: 1, name: "Payments/charge" }).waitFor();
  await page.getByText(REASON).first().waitFor();
  await tabTo(page, /^Journal$/);
  await press(page, "ArrowRight");
  await page.getByText("run charge the card").first().waitFor();
  await expectSound(tab);
}

/** The mended version takes the place of the broken one, after its difference was read. */
async function mend(tab: Tab, broken: Endpoint, mended: Endpoint): Promise<void> {
  const { page } = tab;
  const [before, after] = [broken, mended].map(({ url }) => new URL(url).host);
  await press(page, "g", "d");
  await page.getByRole("heading", { level: 1, name: "Deployments" }).waitFor();
  await tabTo(page, new RegExp(`^${before}$`));
  await press(page, "Enter");
  await page.getByRole("heading", { level: 1, name: before! }).waitFor();
  await tabTo(page, /^Update…$/);
  await press(page, "Enter");
  await page.getByRole("dialog", { name: "Update the deployment" }).waitFor();
  await press(page, "Control+a");
  await page.keyboard.type(mended.url);
  await tabTo(page, /^Take over what it serves now/);
  await press(page, "Space", "Enter");
  await page.getByText("handlers: 1 added, 2 unchanged").waitFor();
  await expectSound(tab);
  await press(page, "Enter");
  await page.getByRole("heading", { level: 1, name: after! }).waitFor();
}

/** All that are paused go on, and what has failed is done again: by criteria that are said. */
async function goOn(page: Page): Promise<void> {
  await press(page, "g", "i");
  await page.getByRole("row", { name: /paused/ }).nth(2).waitFor();
  await filter(page, "service:Payments status:paused");
  await press(page, "j", "x");
  await page.getByText("1 selected").waitFor();
  await tabTo(page, /^Everything that matches/);
  await press(page, "Space");
  await page.getByRole("status").getByText("Everything that matches").waitFor();
  await press(page, "r");
  await confirm(page, { title: "Resume 3 invocations", criteria: /status:paused and are paused/ });
  await page.getByText("Resume: done for 3").waitFor();
  await filter(page, "service:Payments status:failed");
  // "Everything" was chosen for those before, not for these.
  await press(page, "j", "x");
  await page.getByText("1 selected").waitFor();
  await press(page, "Shift+R");
  await confirm(page, { title: "Restart 1 invocation", criteria: /Of the 1 that are selected/ });
  await page.getByText("Restart: done for 1").waitFor();
}

/** Types a filter and waits until it holds. */
async function filter(page: Page, text: string): Promise<void> {
  await press(page, "/", "Control+a");
  await page.keyboard.type(text);
  await press(page, "Enter", "Escape");
  await page.waitForURL((url) => url.searchParams.get("filter") === text);
  const status = text.split(":").at(-1) ?? "";
  await page.getByRole("row", { name: new RegExp(`^Select .* ${status}`) }).first().waitFor();
}

/** Reads the question before a batch, and agrees. */
async function confirm(
  page: Page,
  { title, criteria }: { readonly title: string; readonly criteria: RegExp },
): Promise<void> {
  const question = page.getByRole("dialog", { name: title });
  await question.getByText(criteria).waitFor();
  await tabTo(page, new RegExp(`^${title.split(" ")[0]}$`));
  await press(page, "Enter");
}
