import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { denoProgram, denoTask } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** What JSR would be asked for is not reachable where tests run. */
const IMPORT_MAP = path.join(import.meta.dirname, "stand_ins/import_map.json");
const START_MS = 30_000;
const TEST_MS = 60_000;

vi.setConfig({ testTimeout: TEST_MS });

/** A copy of the repository, in which a test may change what it likes. */
const copy = mkdtempSync(path.join(tmpdir(), "perdure-dev-"));
const at = (name: string) => path.join(copy, name);
let dev: Child;
let [ingress, admin] = ["", ""];

/** `deno task dev`, with another import map for the server. */
function start(): Child {
  const [, ...task] = denoTask("dev");
  const args = task.map((word) => word.startsWith("adapters/") ? at(word) : word);
  const server = args.lastIndexOf("run") + 1;
  args.splice(server, 0, "--import-map", IMPORT_MAP);
  return new Child([denoProgram(), ...args], {
    SVC_BASE_DIR: at("svc-data"),
    SVC_INGRESS__BIND_PORT: new URL(ingress).port,
    SVC_ADMIN__BIND_PORT: new URL(admin).port,
  });
}

function isHealthy(): Promise<boolean> {
  return fetch(`${admin}/health`).then(({ ok }) => ok, () => false);
}

async function startHealthy(): Promise<void> {
  dev = start();
  await until("the server to be healthy", () => isHealthy(), START_MS).catch((cause) => {
    throw new Error(`${cause.message}\n${dev.output()}`);
  });
}

const starts = () => dev.output().split(" is ready: ").length - 1;

async function version(): Promise<string> {
  return await fetch(`${admin}/version`).then((answer) => answer.text(), () => "");
}

/** The path as it is: `fetch` would resolve the dots in it. */
function statusOf(target: string): Promise<number | undefined> {
  const { port } = new URL(admin);
  return new Promise((resolve, reject) =>
    request({ host: "127.0.0.1", port, path: target }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).on("error", reject).end()
  );
}

beforeAll(async () => {
  for (const name of ["src", "adapters", "deno.json", "package.json"]) {
    cpSync(path.join(ROOT, name), at(name), { recursive: true });
  }
  symlinkSync(path.join(ROOT, "node_modules"), at("node_modules"));
  [ingress, admin] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`) as [
    string,
    string,
  ];
  await startHealthy();
}, TEST_MS);

afterAll(async () => {
  await dev?.stop("SIGTERM");
  rmSync(copy, { recursive: true, force: true });
});

test("both APIs answer on their ports", async () => {
  expect((await fetch(`${ingress}/svc/health`)).status).toBe(200);
  expect((await fetch(`${admin}/deployments`)).status).toBe(200);
  expect((await fetch(`${ingress}/ui/`)).status).not.toBe(200);
});

test("files of the UI are served as what they are, and as they are now", async () => {
  const page = await fetch(`${admin}/`);
  expect(page.url).toBe(`${admin}/ui/`);
  expect(page.headers.get("content-type")).toMatch(/^text\/html/);
  expect(await page.text()).toBe(readFileSync(at("src/ui/index.html"), "utf8"));

  for (const color of ["red", "blue"]) {
    writeFileSync(at("src/ui/style.css"), `h1 { color: ${color} }`);
    const style = await fetch(`${admin}/ui/style.css`);
    expect(style.headers.get("content-type")).toMatch(/^text\/css/);
    expect(style.headers.get("cache-control")).toBe("no-cache");
    expect(await style.text()).toContain(color);
  }
});

test("the page links to what the admin API answers", async () => {
  const page = readFileSync(at("src/ui/index.html"), "utf8");
  const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, link]) => link!);
  expect(links).toContain("../health");
  for (const link of links) {
    expect((await fetch(new URL(link, `${admin}/ui/`))).status).toBe(200);
  }
});

test.each([
  "/ui/missing.css",
  "/ui/missing/",
  "/ui/../deno.json",
  "/ui/..%2f..%2fdeno.json",
  "/ui/%2e%2e/%2e%2e/deno.json",
  "/ui//etc/passwd",
  "/ui/%2fetc%2fpasswd",
  "/ui/%00",
  "/ui/%zz",
])("%s is not found", async (target) => {
  expect(await statusOf(target)).toBe(404);
});

test("a change of a source starts the server again, one of the UI does not", async () => {
  const before = starts();
  writeFileSync(at("src/ui/other.ts"), "export {};\n");
  const file = at("adapters/platform/version.ts");
  const changed = readFileSync(file, "utf8").replace(/"[^"]+"/, `"0.0.0-changed"`);
  writeFileSync(file, changed);
  await until(
    "the changed version",
    async () => (await version()).includes("0.0.0-changed"),
    START_MS,
  );
  expect(starts()).toBe(before + 1);
});

test(
  "a start that fails after the data folder was locked is got over by the next change",
  async () => {
    const file = at("adapters/deno/listen.ts");
    const whole = readFileSync(file, "utf8");
    writeFileSync(
      file,
      `export const listen = () => Promise.reject(new Error("broken by a test"));\n`,
    );
    await until("the start to fail", () => dev.output().includes("The server ended (1)"), START_MS);
    expect(dev.output()).toContain("broken by a test");
    writeFileSync(file, whole);
    await until("the server to be healthy", () => isHealthy(), START_MS);
    expect(dev.output()).not.toContain("RT0005");
  },
  TEST_MS,
);

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "%s ends the server in order, too",
  async (signal) => {
    if (!dev.isAlive()) await startHealthy();
    const end = await dev.stop(signal);
    expect(end).toBe(signal === "SIGKILL" ? signal : 0);
    // Its end is heard by nobody when the one that began it was killed.
    await until("the server to be gone", async () => !await isHealthy(), START_MS);
    expect(dev.output()).toContain(`"message":"Stopping"`);
  },
  TEST_MS,
);

test("JSR is asked for this alone, and by names that deno.json maps", () => {
  const { imports } = JSON.parse(readFileSync(at("deno.json"), "utf8"));
  const named = readFileSync(at("adapters/dev_server.ts"), "utf8").matchAll(/from "(@std\/\w+)/g);
  const names = [...named].map(([, name]) => name!).sort();
  expect(Object.keys(imports).filter((name) => name.startsWith("@std/")).sort()).toEqual(names);
});
