import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { options } from "../../src/config.ts";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, freePorts, until } from "../support/child.ts";
import { query } from "../support/client.ts";
import { Server } from "../support/server.ts";
import { sqldProgram, startSqld } from "../support/sqld.ts";
import { shows } from "../support/tokens.ts";
import { inFleet, MARK, marked, SETTINGS, URLS, variables } from "./_secrets.ts";

vi.setConfig({ testTimeout: 60_000 });
const START_MS = 30_000;

const program = await sqldProgram();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "perdure-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("every secret of the settings is marked here", () => {
  const known = Object.entries(options).filter(([, { secret }]) => secret).map(([name]) => name);
  const given = Object.keys({ ...SETTINGS, ...inFleet("http://x") })
    .map((name) => name.toLowerCase().replaceAll("__", ".").replaceAll("_", "-"));
  expect(known.filter((name) => !given.includes(name))).toEqual([]);
});

type Command = readonly [string, ...string[]];
/** How each runtime is started, with a script that runs before the server. */
const COMMANDS: Readonly<Record<"node" | "deno", (before?: string) => Command>> = {
  node: (before) => [process.execPath, ...(before ? ["--import", before] : []), nodeEntry()],
  deno: (before) => {
    const [file, run = "", ...words] = denoCommand();
    return [file, run, ...(before ? ["--preload", before] : []), ...words];
  },
};

const QUIET = { INGRESS__BIND_PORT: "0", ADMIN__BIND_PORT: "0", LOG_LEVEL: "debug" };

/** What a process prints until it ends, and how it ends. */
async function ended(command: Command, settings: Readonly<Record<string, string>>) {
  const child = new Child(command, variables({ ...QUIET, ...settings, BASE_DIR: newFolder() }));
  cleanups.push(() => child.stop());
  return { end: await child.ended(), output: child.output() };
}

const leaks = (output: string) => output.split("\n").filter(marked);

/** What no start gets over, by what it is. */
const WRONG: readonly (readonly [what: string, settings: Readonly<Record<string, string>>])[] = [
  ["a database that is not there", inFleet("http://127.0.0.1:9")],
  ["a database without a host", inFleet("libsql://db.invalid")],
  ["a user in the URL of a database", inFleet(`http://u:${MARK}@x/`)],
  ["a user in the URL of a collector", { TRACING_ENDPOINT: `http://u:${MARK}@127.0.0.1:9` }],
  ["a user in the address of a process", {
    FLEET__ADVERTISED_ADDRESS: `http://u:${MARK}@127.0.0.1:9`,
  }],
  ["a user in the address of callers", { INGRESS__ADVERTISED_ADDRESS: `http://${MARK}@shop` }],
  ["a URL of a collector that is none", { TRACING_ENDPOINT: `http://[?key=${MARK}` }],
  ["a user in the URL of keys", { ...URLS, AUTH__JWT__KEYS: `https://u:${MARK}@x/keys` }],
  ["a URL of keys that is none", { ...URLS, AUTH__JWT__KEYS: `https://[/?token=${MARK}` }],
  ["an address of keys that is refused", {
    ...URLS,
    AUTH__JWT__KEYS: `http://169.254.169.254/?token=${MARK}`,
  }],
  ["headers that are none", { ...URLS, TRACING_HEADERS: `["${MARK}"]` }],
  ["a list of tokens that is none", { AUTH__TOKENS: `${MARK}` }],
  ["a token with a space", { ADMIN__TOKEN: `${MARK} ${MARK}` }],
  ["a key that is too short", { STORAGE__ENCRYPTION_KEY: "Zz9mArKeDsEcReTzZ" }],
  ["a key that is none", { WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM: MARK }],
  ["a key of an account that is none", {
    ...{ OUTBOUND__ID_TOKEN__GOOGLE_KEY: `{"client_email": "${MARK}` },
  }],
];

describe.each(["node", "deno"] as const)("on %s", (runtime) => {
  const command = COMMANDS[runtime];

  test("the settings that are printed have none", async () => {
    const [file, ...words] = command();
    const all = { ...SETTINGS, ...URLS, ...inFleet("https://db.example") };
    const { end, output } = await ended([file, ...words, "--dump-config"], all);
    expect(output).toContain("# tracing-endpoint = (hidden)");
    expect([end, leaks(output)]).toEqual([0, []]);
  });

  // What settings may be is decided by the same code: a few show that Deno prints no more.
  const wrong = WRONG.slice(runtime === "deno" ? -3 : 0);
  test.each(wrong)("a start that fails for %s tells none", async (_, settings) => {
    const wrong = { STORAGE__RETRY_TIMEOUT: "1s", ...settings };
    const { end, output } = await ended(command(), wrong);
    expect([end, leaks(output), output.length > 20]).toEqual([1, [], true]);
  });

  test.each([
    ["an error that nobody catches", "throw new Error('fatal')", /Ending because of a bug/],
    ["a rejection", "void Promise.reject(new Error('fatal'))", /Ending because of a bug/],
    ["no memory", "for (const all = [];;) all.push(Array(1e6).fill(1.5))", /heap|out of memory/i],
  ])("a process that ends with %s tells none", async (_, script, expected) => {
    const before = path.join(newFolder(), "before.mjs");
    writeFileSync(before, `process.on("SIGHUP", () => { ${script}; });\n`);
    const env = {
      ...variables({ ...QUIET, ...SETTINGS, ...URLS, BASE_DIR: newFolder() }),
      NODE_OPTIONS: "--max-old-space-size=256",
      DENO_V8_FLAGS: "--max-old-space-size=256",
    };
    const child = new Child(command(before), env);
    cleanups.push(() => child.stop());
    await until("the server", () => {
      if (!child.isAlive()) throw new Error(child.output());
      return child.output().includes("is ready");
    }, START_MS);
    child.signal("SIGHUP");
    const end = await child.ended();
    expect(end).not.toBe(0);
    expect(child.output()).toMatch(expected);
    expect(leaks(child.output())).toEqual([]);
  });

  test.skipIf(!program)(
    "a server of a fleet tells none, by SQL, metrics, log or files",
    async () => {
      const sqld = await startSqld(program!);
      cleanups.push(() => sqld.close());
      const [ingress = 0, admin = 0, fleet = 0] = await freePorts(3);
      const { STORAGE__ENCRYPTION_KEY: _, ...secrets } = SETTINGS;
      const settings = {
        ...{ ...secrets, ...URLS, ...inFleet(sqld.url), FLEET__BIND_PORT: String(fleet) },
        FLEET__ADVERTISED_ADDRESS: `http://127.0.0.1:${fleet}`,
      };
      const server = new Server({ runtime, settings }, [ingress, admin], newFolder());
      cleanups.push(() => server.close());
      await server.start();
      const asked = { ...server, admin: server.admin, token: SETTINGS.ADMIN__TOKEN };
      const tables = await query(asked, "show tables");
      for (const { table_name: name } of tables) {
        const rows = await query(asked, `select * from ${name} limit 1000`);
        expect(marked(JSON.stringify(rows)), String(name)).toBe(false);
      }
      for (const page of ["/metrics", "/version", "/cluster-health", "/openapi"]) {
        const headers = shows(SETTINGS.ADMIN__TOKEN);
        const answer = await fetch(server.admin + page, { headers });
        expect([answer.status, marked(await answer.text())], page).toEqual([200, false]);
      }
      // A stranger among the processes.
      const peer = await fetch(`http://127.0.0.1:${fleet}/`, { headers: shows(`${MARK}-wrong`) });
      expect(marked(await peer.text())).toBe(false);
      await sqld.stop();
      await until("the log", () => /database/i.test(server.logs()));
      await server.stop("SIGTERM");
      expect(leaks(server.logs())).toEqual([]);
    },
  );
});
