// The pictures of the documents: two pages, light and dark, of a server that was filled by calls of the
// real SDK.
//
//   npm run screenshots
//
// Needs Chromium (`CHROMIUM`, else Debian's) and what `npm run build` makes. Pictures are small files and
// are written to `docs/pictures`.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startEndpoint, startServer, until } from "../bench/_process.mjs";
import { openChromium } from "../support/chromium.mjs";

const SERVICES = fileURLToPath(new URL("../support/services.mjs", import.meta.url));
const TARGET = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
const VIEW = { width: 1440, height: 640 };
const BYTES_MAX = 150_000;
const CALLS = 40;
const JSON_TYPE = { "content-type": "application/json", accept: "application/json" };

async function post(url, body) {
  const answer = await fetch(url, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  });
  return await answer.json();
}

const call = ({ ingress }, target, body) => post(`${ingress}/restate/call/${target}`, body);
const send = ({ ingress }, target, body) => post(`${ingress}/restate/send/${target}`, body);

/** Calls that succeed, retry, are paused, wait for a lock, and one with steps of all kinds. */
async function seed(server, endpoint) {
  await post(`${server.admin}/deployments`, { uri: endpoint.url });
  for (let at = 0; at < CALLS; at++) {
    await call(server, "Greeter/greet", `customer ${at}`);
    await call(server, `Counter/cart-${at % 5}/add`, at);
  }
  await call(server, "Greeter/refuse", "card declined");
  for (const id of ["o-1041", "o-1042", "o-1047"]) await send(server, "Fragile/pauses", id);
  const { invocationId } = await send(server, "Greeter/flakyStep", {
    id: "invoice",
    failures: 1_000,
  });
  await send(server, "Counter/cart-7/hold", "checkout");
  for (const delta of [1, 2]) await send(server, "Counter/cart-7/add", delta);
  await send(server, "Flow/order-1041/run", "order-1041");
  await until("the causes", async () => {
    const { rows } = await post(`${server.admin}/query`, {
      query: "SELECT status FROM sys_invocation WHERE status = 'paused'",
    });
    return rows.length === 3;
  });
  return invocationId;
}

/** A page in both themes: `name.png` and `name-dark.png`. */
async function takeBoth(browser, { name, ...page }) {
  await take(browser, { ...page, colorScheme: "light", name: `${name}.png` });
  await take(browser, { ...page, colorScheme: "dark", name: `${name}-dark.png` });
}

async function take(browser, { url, ready, name, colorScheme }) {
  const page = await browser.newPage({
    viewport: VIEW,
    colorScheme,
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  await page.goto(url);
  await ready(page);
  const file = path.join(TARGET, name);
  const bytes = await page.screenshot({ path: file, animations: "disabled" });
  if (bytes.length > BYTES_MAX) throw new Error(`${name} has ${bytes.length} bytes`);
  console.log(`${file}: ${bytes.length} bytes`);
  await page.close();
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "pictures-"));
const endpoint = await startEndpoint(SERVICES, "h2", folder);
const browser = await openChromium();
let server;
try {
  server = await startServer(path.join(folder, "data"));
  const id = await seed(server, endpoint);
  fs.mkdirSync(TARGET, { recursive: true });
  await takeBoth(browser, {
    url: `${server.admin}/ui/`,
    ready: async (page) => {
      for (const cause of ["invoice is not ready", "o-1047 is not ready", "held by hold"]) {
        await page.getByText(cause).waitFor();
      }
    },
    name: "home",
  });
  await takeBoth(browser, {
    url: `${server.admin}/ui/invocations/${id}`,
    ready: async (page) => {
      await page.getByRole("row", { name: /middle/ }).waitFor();
      await page.getByText(/\(in \d/).waitFor();
    },
    name: "invocation",
  });
} finally {
  await browser.close();
  await server?.stop();
  endpoint.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
