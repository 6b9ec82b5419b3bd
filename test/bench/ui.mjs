// What the web UI costs: the list over many invocations, what is new, a long journal, idle tabs.
//
//   npm run build && node test/bench/ui.mjs [--rows 100000] [--steps 5000] [--tabs 10]
//
// Ends with 1 and a line for each budget that is not kept: they hold for a quiet machine of two cores and
// the sizes above, so that no other run asserts them. Needs Chromium (`CHROMIUM`, else Debian's). Times are from the navigation. "CPU" is what the thread of
// the page or the server worked, and so are tasks: whatever else the machine does meanwhile.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openChromium } from "../support/chromium.mjs";
import { fill } from "./_fill.mjs";
import { startEndpoint, startServer, until } from "./_process.mjs";

function flag(name, otherwise) {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

const [ROWS, STEPS, TABS] = [flag("--rows", 100_000), flag("--steps", 5_000), flag("--tabs", 10)];
const ROUNDS = 7;
const CALLS = 50;
/** Calls whose way to the page is measured. */
const CALLS_SHOWN = 15;
const PAGES = 30;
/** What delays the answer to a key. */
const LONG_MS = 50;
const IDLE_MS = 30_000;
/** After a tab was opened, until it has read what it shows. */
const SETTLE_MS = 8_000;
/**
 * Before a tab is closed: what it still asks for would be ended with the processes that answer it, and
 * the start of new ones would be measured with the next tab.
 */
const REST_MS = 2_000;
/** Clock ticks of `/proc` in a second. */
const TICKS = 100;
const JSON_TYPE = { "content-type": "application/json", accept: "application/json" };
const SERVICES = fileURLToPath(new URL("../support/services.mjs", import.meta.url));

/** Most ms until the first rows, by what is opened. */
const FIRST_ROWS_MS = { list: 300, journal: 500 };
const NODES_MAX = 1_500;
const NEW_SHOWN_MS = 1_000;
/** From the answer to a send whose handler fails until Home shows its cause. */
const CAUSE_SHOWN_MS = 3_000;
/** Of a core, in percent, for all tabs together. */
const IDLE_SHARE_MAX = 3;

/** Budgets that were not kept. */
const missed = [];
function budget(what, value, most) {
  if (value > most) missed.push(`budget not kept: ${what} is ${value.toFixed(1)}, at most ${most}`);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
const ms = (value) => `${value.toFixed(0)} ms`;

async function post(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.json();
}

const ask = (server, query) => post(`${server.admin}/query`, { query });

/** Runs in the page: when the first row was there, by the page's own clock. */
function watch() {
  globalThis.seen = {};
  new MutationObserver((_, observer) => {
    if (!document.querySelector("tbody tr[aria-rowindex], ol.steps li, tbody tr th")) return;
    requestAnimationFrame(() => globalThis.seen.rowsMs = performance.now());
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
}

/** Opens a page and waits for its first rows. `isTraced`: `tasks` answers what its tasks cost until then. */
async function openTab(browser, url, isTraced = false) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(watch);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable");
  const trace = () => browser.startTracing(page, { categories: ["toplevel"] });
  if (isTraced) await trace();
  await page.goto(url);
  await page.waitForFunction(() => globalThis.seen.rowsMs !== undefined);
  const cpuMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1_000 * metrics.find(({ name }) => name === "ThreadTime").value;
  };
  const seen = () => page.evaluate(() => globalThis.seen);
  return { page, cpuMs, seen, trace, tasks: () => tasksOf(browser), close: () => context.close() };
}

/** The CPU times of the tasks of the page's thread since the trace began, in ms. */
async function tasksOf(browser) {
  const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
  const pages = new Set(
    traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  return traceEvents.filter(({ name, pid, tid, tdur }) =>
    name.endsWith("RunTask") && tdur !== undefined && pages.has(`${pid} ${tid}`)
  ).map(({ tdur }) => tdur / 1_000);
}

async function firstRows(browser, { what, url, most }) {
  const [times, works, tasks] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const tab = await openTab(browser, url, true);
    times.push((await tab.seen()).rowsMs);
    works.push(await tab.cpuMs());
    tasks.push(Math.max(...await tab.tasks()));
    await pause(REST_MS);
    await tab.close();
  }
  console.log(
    `${what}: first rows after ${ms(median(times))} (least ${ms(Math.min(...times))}), ` +
      `CPU of the page ${ms(median(works))}, longest task ${ms(median(tasks))} of CPU`,
  );
  budget(`ms until the first rows of ${what}`, median(times), most);
}

/** Scrolls through pages of a list: each is read when the last row of the one before is in view. */
async function scroll(browser, url) {
  const tab = await openTab(browser, url);
  const before = await tab.cpuMs();
  await tab.trace();
  let rows = 0;
  for (let round = 0; round < PAGES; round++) {
    await tab.page.evaluate(() => globalThis.scrollTo(0, document.documentElement.scrollHeight));
    await tab.page.waitForFunction(
      (had) => Number(document.querySelector("table").getAttribute("aria-rowcount")) > had,
      rows,
    );
    rows = await tab.page.evaluate(() =>
      Number(document.querySelector("table").getAttribute("aria-rowcount"))
    );
  }
  for (let y = 0; y < 40; y++) await tab.page.mouse.wheel(0, -2_000).then(() => pause(30));
  const tasks = await tab.tasks();
  const long = tasks.filter((one) => one > LONG_MS).length;
  const nodes = await tab.page.evaluate(() => document.querySelectorAll("*").length);
  const cpu = await tab.cpuMs() - before;
  console.log(
    `scrolling to row ${rows} and back: ${long} of ${tasks.length} tasks over ${LONG_MS} ms of ` +
      `CPU, the longest ${ms(Math.max(...tasks))}; ${nodes} nodes; CPU of the page ${ms(cpu)}`,
  );
  budget("the longest task of scrolling, in ms", Math.max(...tasks), LONG_MS);
  budget("the number of nodes", nodes, NODES_MAX);
  await tab.close();
}

/** A page of the list far down: as the UI asks for it, behind a row. */
async function depths(server) {
  const total = Number((await ask(server, "SELECT count(*) AS n FROM sys_invocation")).rows[0].n);
  const [{ oldest, newest }] = (await ask(
    server,
    "SELECT min(created_at) AS oldest, max(created_at) AS newest FROM sys_invocation",
  )).rows;
  for (const depth of [0, 0.5, 0.99]) {
    const at = new Date(Date.parse(newest) - depth * (Date.parse(newest) - Date.parse(oldest)));
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now();
      await ask(
        server,
        `SELECT id, target, status, created_at FROM sys_invocation
          WHERE created_at <= '${at.toISOString()}' ORDER BY created_at DESC, id DESC LIMIT 100`,
      );
      times.push(performance.now() - began);
    }
    console.log(`page of 100 at ${100 * depth} % of ${total}: ${ms(median(times))}`);
  }
}

/** A journal: a step has a command and a notification. */
async function longJournal(browser, server) {
  const started = await post(`${server.ingress}/restate/send/Greeter/steps`, {
    id: "long",
    count: STEPS,
  });
  const id = started.invocationId;
  await until("the journal", async () => {
    const { rows } = await ask(server, `SELECT status FROM sys_invocation WHERE id = '${id}'`);
    return rows[0].status === "completed";
  }, 600_000);
  const sized = await ask(
    server,
    `SELECT journal_size AS n FROM sys_invocation WHERE id = '${id}'`,
  );
  const what = `a journal of ${sized.rows[0].n} entries`;
  const url = `${server.admin}/ui/invocations/${id}`;
  await firstRows(browser, { what, url, most: FIRST_ROWS_MS.journal });
}

function cpuSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

async function idleTabs(browser, server) {
  const tabs = [];
  for (let at = 0; at < TABS; at++) {
    const page = ["", "invocations", "services", "deployments"][at % 4];
    tabs.push(await openTab(browser, `${server.admin}/ui/${page}`));
  }
  for (const tabCount of [TABS, 0]) {
    if (tabCount === 0) await Promise.all(tabs.map((tab) => tab.close()));
    await pause(SETTLE_MS);
    const before = cpuSeconds(server.pid);
    await pause(IDLE_MS);
    const share = 100 * (cpuSeconds(server.pid) - before) / (IDLE_MS / 1_000);
    console.log(`${tabCount} tabs, nothing happens: ${share.toFixed(1)} % of a core`);
    budget(`the share of ${tabCount} tabs, in %`, share, IDLE_SHARE_MAX);
  }
}

/** From a call until the list says that there is a new one, at most once in a while: hints are joined. */
async function announced(browser, server, url) {
  const tab = await openTab(browser, url);
  await pause(SETTLE_MS);
  const times = [];
  for (let count = 1; count <= CALLS_SHOWN; count++) {
    const began = Date.now();
    await post(`${server.ingress}/restate/send/Greeter/greet`, "Ada");
    const shown = await tab.page.waitForFunction(
      (text) => document.querySelector(".title .actions")?.textContent.includes(text) && Date.now(),
      `${count} new`,
    );
    times.push(await shown.jsonValue() - began);
    await pause(REST_MS);
  }
  console.log(
    `a new invocation is told after ${ms(median(times))} (most ${ms(Math.max(...times))})`,
  );
  budget("ms until a new invocation is told", Math.max(...times), NEW_SHOWN_MS);
  await tab.close();
}

async function cause(browser, server) {
  const tab = await openTab(browser, `${server.admin}/ui/`);
  await pause(SETTLE_MS);
  await post(`${server.ingress}/restate/send/Fragile/pauses`);
  const began = Date.now();
  const shown = await tab.page.waitForFunction(() =>
    document.querySelector("main")?.textContent.includes("Fragile/pauses") && Date.now()
  );
  const took = await shown.jsonValue() - began;
  console.log(`Home shows what fails after ${ms(took)}`);
  budget("ms until Home shows a cause", took, CAUSE_SHOWN_MS);
  await tab.close();
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ui-bench-"));
const endpoint = await startEndpoint(SERVICES, "h2", folder);
const browser = await openChromium();
let server;
try {
  const data = path.join(folder, "data");
  server = await startServer(data, { SVC_STORAGE__FOLD_BYTES: "4KiB" });
  await post(`${server.admin}/deployments`, { uri: endpoint.url });
  // Enough that the first of them are in the tables, and not in the log alone.
  for (let at = 0; at < CALLS; at++) {
    await post(`${server.ingress}/restate/call/Greeter/greet`, "Ada");
  }
  await server.stop();
  const [file] = fs.readdirSync(data).filter((name) => name.endsWith(".db"));
  console.log(`${await fill(path.join(data, file), { count: ROWS })} invocations`);
  server = await startServer(data);
  const list = `${server.admin}/ui/invocations`;
  await firstRows(browser, { what: "the list", url: list, most: FIRST_ROWS_MS.list });
  await scroll(browser, list);
  await depths(server);
  await announced(browser, server, list);
  await cause(browser, server);
  await longJournal(browser, server);
  await idleTabs(browser, server);
} finally {
  await browser.close();
  await server?.stop();
  endpoint.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
for (const line of missed) console.log(line);
process.exitCode = missed.length > 0 ? 1 : 0;
