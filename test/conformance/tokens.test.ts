import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { denoCommand, nodeEntry } from "../support/build.ts";
import { Child, until } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { shows } from "../support/tokens.ts";

vi.setConfig({ testTimeout: 60_000 });
const START_MS = 30_000;

let folder: string;
const children: Child[] = [], endpoints: Endpoint[] = [];
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "tokens-"))));
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()));
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
  rmSync(folder, { recursive: true, force: true });
});

type Command = readonly [string, ...string[]];
const commands: Readonly<Record<string, () => Command>> = {
  node: () => [process.execPath, nodeEntry()],
  deno: denoCommand,
};

function start(command: Command, env: Record<string, string>): Child {
  const settings = {
    SVC_BASE_DIR: path.join(folder, "data"),
    SVC_INGRESS__BIND_PORT: "0",
    SVC_ADMIN__BIND_PORT: "0",
  };
  const child = new Child(command, { ...settings, ...env });
  children.push(child);
  return child;
}

async function ready(child: Child): Promise<{ readonly ingress: string; readonly admin: string }> {
  const line = /is ready: ingress (\S+), admin (\S+), data/;
  await until(`the server to be ready: ${child.output()}`, async () => {
    if (!child.isAlive()) throw new Error(child.output());
    return line.test(child.output());
  }, START_MS);
  const [, ingress = "", admin = ""] = line.exec(child.output())!;
  return { ingress, admin };
}

const status = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  await response.text();
  return response.status;
};

describe.each(Object.entries(commands))("tokens on %s", (_, command) => {
  test("a real handler is called with one, and never sees it", async () => {
    const tokens = path.join(folder, "tokens");
    writeFileSync(tokens, `ci ${await digestOf("ci-token")} admin invoke\n`);
    const child = start(command(), { SVC_AUTH__TOKENS_FILE: tokens });
    const { ingress, admin } = await ready(child);
    const endpoint = await startEndpoint("h2");
    endpoints.push(endpoint);
    const headers = { ...shows("ci-token"), "content-type": "application/json" };
    const body = JSON.stringify({ uri: endpoint.url });
    const register = { method: "POST", body };
    expect(
      await status(`${admin}/deployments`, {
        ...register,
        headers: { "content-type": "application/json" },
      }),
    ).toBe(401);
    expect(await status(`${admin}/deployments`, { ...register, headers })).toBe(201);
    const call = `${ingress}/svc/call/Greeter/greet`;
    const asked = { method: "POST", body: '"you"' };
    expect(await status(call, asked)).toBe(401);
    const answer = await fetch(call, { ...asked, headers });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("you")]);
    expect(await status(`${admin}/health`)).toBe(200);
    expect(child.output()).not.toContain("ci-token");

    writeFileSync(tokens, `ci ${await digestOf("next-token")} admin\n`);
    await until(
      "the list to be read again",
      async () =>
        await status(call, { ...asked, headers: { ...headers, ...shows("next-token") } }) === 200,
    );
    expect(await status(call, { ...asked, headers })).toBe(401);
  });

  test("one is made at the first start, and kept", async () => {
    const env = { SVC_AUTH__MODE: "generate", SVC_ADMIN__BIND_ADDRESS: "0.0.0.0" };
    const child = start(command(), env);
    const { ingress, admin } = await ready(child);
    const file = path.join(folder, "data", "admin.token");
    const token = readFileSync(file, "utf8").trim();
    expect(token.length).toBeGreaterThan(40);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(child.output()).toContain(file);
    expect(child.output()).not.toContain(token);
    expect(await status(`${admin}/deployments`)).toBe(401);
    expect(await status(`${admin}/deployments`, { headers: shows(token) })).toBe(200);
    const call = { method: "POST", headers: shows(token) };
    expect(await status(`${ingress}/svc/call/No/such`, { method: "POST" })).toBe(401);
    expect(await status(`${ingress}/svc/call/No/such`, call)).toBe(404);
    await child.stop();
    await ready(start(command(), env));
    expect(readFileSync(file, "utf8").trim()).toBe(token);
  });

  /** A container: both ports are beyond this machine. */
  const image = {
    SVC_AUTH__MODE: "generate",
    SVC_ADMIN__BIND_ADDRESS: "0.0.0.0",
    SVC_INGRESS__BIND_ADDRESS: "0.0.0.0",
  };

  /** What both ports answer to a token, or to none. */
  async function statuses(child: Child, token?: string): Promise<Record<string, number>> {
    const { ingress, admin } = await ready(child);
    const headers = token === undefined ? {} : shows(token);
    return {
      admin: await status(`${admin}/deployments`, { headers }),
      ingress: await status(`${ingress}/svc/call/No/such`, { method: "POST", headers }),
    };
  }

  test("the port that none is set for gets the one that is made", async () => {
    const file = path.join(folder, "data", "admin.token");
    const callers = start(command(), { ...image, SVC_INGRESS__TOKEN: "of-callers" });
    expect(await statuses(callers)).toEqual({ admin: 401, ingress: 401 });
    expect(await statuses(callers, "of-callers")).toEqual({ admin: 403, ingress: 404 });
    const made = readFileSync(file, "utf8").trim();
    expect(await statuses(callers, made)).toEqual({ admin: 200, ingress: 404 });
    await callers.stop();
    const operators = start(command(), { ...image, SVC_ADMIN__TOKEN: "of-operators" });
    expect(await statuses(operators)).toEqual({ admin: 401, ingress: 401 });
    expect(await statuses(operators, "of-operators")).toEqual({ admin: 200, ingress: 404 });
    // The same file, for callers: it is no second token of operators.
    expect(readFileSync(file, "utf8").trim()).toBe(made);
    expect(await statuses(operators, made)).toEqual({ admin: 403, ingress: 404 });
    await operators.stop();
    const both = { SVC_ADMIN__TOKEN: "of-operators", SVC_INGRESS__TOKEN: "of-callers" };
    const given = start(command(), { ...image, ...both });
    expect(await statuses(given)).toEqual({ admin: 401, ingress: 401 });
    expect(await statuses(given, made)).toEqual({ admin: 401, ingress: 401 });
  });

  test("a port beyond this machine does not start without one", async () => {
    const child = start(command(), { SVC_INGRESS__BIND_ADDRESS: "0.0.0.0" });
    expect(await child.ended()).toBe(1);
    expect(child.output()).toMatch(
      /^\[RT0002\] .*ingress\.bind-address "0\.0\.0\.0".*ingress\.token/m,
    );
    expect(existsSync(path.join(folder, "data"))).toBe(false);
  });

  test("a file that cannot be used is told, without what is in it", async () => {
    const tokens = path.join(folder, "tokens");
    writeFileSync(tokens, "ci a-secret-token viewer\n");
    chmodSync(tokens, 0o600);
    const child = start(command(), { SVC_AUTH__TOKENS_FILE: tokens });
    expect(await child.ended()).toBe(1);
    expect(child.output()).toMatch(/^\[RT0002\] Cannot read "auth\.tokens-file": line 1/m);
    expect(child.output()).not.toContain("a-secret-token");
  });
});
