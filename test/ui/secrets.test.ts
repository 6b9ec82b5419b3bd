import type { Browser, Page, Route } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { inFleet, MARK, marked, SETTINGS, URLS } from "../conformance/_secrets.ts";
import { call, query, register, send } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Server, startServer } from "../support/server.ts";
import { type Sqld, sqldProgram, startSqld } from "../support/sqld.ts";
import { shows } from "../support/tokens.ts";
import { hasBrowser, openBrowser } from "./_browser.ts";
import { openTab, soon } from "./_tab.ts";

const START_MS = 60_000;
/** Two dozen pages, on a machine that is busy. */
const WALK_MS = 180_000;
vi.setConfig({ testTimeout: WALK_MS });

const program = await sqldProgram();
const HEADER = `${MARK}-header`;
/** The stream of hints, which does not end. It has ids only. */
const HINTS = "/internal/ui/events";
/** The API shows values of headers to those who may set them; the pages do not. */
const SHOWS_HEADERS = /^\/deployments(\/dp_\w+)?$/;
const TABS = ["journal", "errors", "io", "state", "travel", "calls", "raw"];

/** Settings without those that only a data folder has. */
function remote(sqld: Sqld): Record<string, string> {
  const { STORAGE__ENCRYPTION_KEY: _, ...settings } = SETTINGS;
  const { FLEET__SECRET: __, ...database } = inFleet(sqld.url);
  return { ...settings, ...database };
}

/** Everything that the server answers to a page, read before the page has it. */
async function heard(page: Page): Promise<{ readonly url: string; readonly text: string }[]> {
  const all: { url: string; text: string }[] = [];
  await page.route(({ pathname }) => pathname !== HINTS, async (route: Route) => {
    try {
      const response = await route.fetch({ maxRedirects: 0 });
      const head = JSON.stringify(response.headersArray());
      all.push({ url: response.url(), text: `${head} ${await response.text()}` });
      await route.fulfill({ response });
    } catch (cause) {
      // The page has gone on meanwhile: it asks no more.
      if (!/closed|handled|disposed|aborted|canceled/i.test(String(cause))) throw cause;
    }
  });
  return all;
}

/** What a page has, visible or not: text, elements, fields, and what the browser keeps for it. */
async function contents(page: Page): Promise<string> {
  const own = await page.evaluate(() => {
    const fields = [...document.querySelectorAll("input, textarea, select")];
    return [
      document.title,
      document.body.innerText,
      document.documentElement.outerHTML,
      ...fields.map((field) => (field as HTMLInputElement).value),
      location.href,
      document.cookie,
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state]),
    ].join("\n");
  });
  return own + JSON.stringify(await page.context().cookies());
}

describe.each(["a data folder", "a database server"] as const)(
  "the UI of a server with %s whose secrets are all marked",
  (where) => {
    const isRemote = where === "a database server";
    const isThere = hasBrowser && (!isRemote || program !== undefined);
    let browser: Browser, server: Server, endpoint: Endpoint, sqld: Sqld | undefined;
    let pages: Readonly<Record<string, string>>;

    beforeAll(async () => {
      if (!isThere) return;
      if (isRemote) sqld = await startSqld(program!);
      const settings = {
        ...(sqld ? remote(sqld) : SETTINGS),
        ...URLS,
        INGRESS__REDACT_HEADERS: '["cookie"]',
      };
      [browser, server, endpoint] = await Promise.all([
        openBrowser(),
        startServer({ runtime: "node", settings }),
        startEndpoint("h2"),
      ]);
      pages = await fill();
    }, START_MS);
    afterAll(async () => {
      await Promise.all([browser?.close(), server?.close(), endpoint?.close()]);
      await sqld?.close();
    });

    /** Rows of every kind. Answers the pages that show them, each with a text that it has once it is filled. */
    async function fill(): Promise<Readonly<Record<string, string>>> {
      const { admin, ingress } = server;
      const address = { admin, ingress, token: SETTINGS.ADMIN__TOKEN };
      const headers = { additional_headers: { "x-api-key": HEADER } };
      const { id: deployment } = (await register(address, endpoint, headers)).body as {
        readonly id: string;
      };
      const called = { headers: { cookie: `own=${MARK}-cookie` } };
      await call(address, "Greeter/greet", "you", called);
      await call(address, "Greeter/refuse", "it is refused", called);
      await call(address, "Counter/c/add", 1);
      await send(address, "Flow/f/run", "f");
      await post("/kafka-clusters", { name: "c", properties: KAFKA });
      await post("/subscriptions", { source: "kafka://c/t", sink: "service://Greeter/greet" });
      const failed = "SELECT id FROM sys_invocation WHERE target_handler_name = 'refuse'";
      const [{ id } = {}] = await query(address, failed);
      const sql = (q: string) => `sql?${new URLSearchParams({ q })}`;
      return {
        "": "Greeter",
        invocations: "Greeter/refuse",
        ...Object.fromEntries(TABS.map((tab) => [`invocations/${id}?tab=${tab}`, "Greeter"])),
        objects: "Counter",
        "objects/Counter/c": "Counter",
        workflows: "Flow",
        "workflows/Flow/f": "Flow",
        services: "Greeter",
        "services/Greeter": "refuse",
        deployments: new URL(endpoint.url).host,
        [`deployments/${deployment}`]: "x-api-key: ***",
        limits: "Limits",
        kafka: "sasl.password=***",
        [sql("SELECT * FROM sys_deployment")]: new URL(endpoint.url).host,
        [sql("SELECT * FROM sys_kafka_cluster")]: "sasl.username",
        [sql("SELECT * FROM sys_audit")]: "/kafka-clusters",
        settings: "Settings",
      };
    }

    async function post(path: string, body: object): Promise<void> {
      const headers = { ...shows(SETTINGS.ADMIN__TOKEN), "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      expect((await fetch(server.admin + path, init)).status, path).toBe(201);
    }

    test.skipIf(!isThere)("shows and asks for none, on any page", async () => {
      const tab = await openTab(browser, "about:blank", { allowed: [401] });
      const { page } = tab;
      const answers = await heard(page);
      const expectNone = async (what: string) =>
        expect(marked(await contents(page)), what).toBe(false);
      await page.goto(`${server.admin}/ui/`);
      await page.getByLabel("Token").fill(SETTINGS.ADMIN__TOKEN);
      await page.keyboard.press("Enter");
      for (const [name, text] of Object.entries(pages)) {
        if (name !== "") await page.goto(`${server.admin}/ui/${name}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.getByText("Loading…").waitFor({ state: "detached" });
        await page.getByText(text).first().waitFor();
        await expectNone(name);
        if (name.startsWith("deployments/")) {
          await page.getByRole("button", { name: "Update…" }).click();
          await page.getByRole("dialog").getByText("x-api-key: ***").waitFor();
          await expectNone(`${name}: the form`);
        }
        if (name === "kafka") {
          await page.getByRole("button", { name: "Edit c", exact: true }).click();
          await soon(() => page.getByLabel("Properties").inputValue()).toContain("sasl.password");
          await expectNone(`${name}: the form`);
        }
      }
      const told = answers.filter(({ url, text }) =>
        marked(SHOWS_HEADERS.test(new URL(url).pathname) ? text.replaceAll(HEADER, "") : text)
      );
      expect(told.map(({ url }) => url)).toEqual([]);
      // It was looked for where it is: the API has it, and no page.
      expect(answers.some(({ text }) => text.includes(HEADER))).toBe(true);
      expect(answers.length).toBeGreaterThan(50);
      expect(tab.wrong.filter(marked)).toEqual([]);
      await tab.close();
    });
  },
);

const KAFKA = {
  "bootstrap.servers": "127.0.0.1:9",
  "security.protocol": "SASL_PLAINTEXT",
  "sasl.mechanism": "PLAIN",
  "sasl.username": "u",
  "sasl.password": `${MARK}-password`,
};
