import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { denoProgram, denoTask } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const START_MS = 30_000;
const TEST_MS = 60_000;

vi.setConfig({ testTimeout: TEST_MS });

/** A copy of the repository, in which a test may change what it likes. */
const copy = mkdtempSync(path.join(tmpdir(), "perdure-dev-"));
const at = (name: string) => path.join(copy, name);
let dev: Child;
let [ingress, admin] = ["", ""];

/** `deno task dev`, of the copy. */
function start(): Child {
  const [, ...task] = denoTask("dev");
  const args = task.map((word) => word.startsWith("adapters/") ? at(word) : word);
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

test("the UI is built before the first start, and after each change of it", async () => {
  const page = await fetch(`${admin}/`);
  expect(page.url).toBe(`${admin}/ui/`);
  const styleOf = async () => {
    const shell = await (await fetch(`${admin}/ui/`)).text();
    const [, name] = /href="([^"]+[.]css)"/.exec(shell) ?? [];
    return await (await fetch(`${admin}/ui/${name}`)).text();
  };
  for (const color of ["rebeccapurple", "chocolate"]) {
    appendFileSync(at("src/ui/css/style.css"), `h1 { background: ${color} }\n`);
    // As the build writes them: by their shortest names.
    const written = color === "chocolate" ? "#d2691e" : "#639";
    await until("the changed style", async () => (await styleOf()).includes(written), START_MS);
  }
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
