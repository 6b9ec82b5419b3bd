import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { startTarget, type Target } from "../protocol/_target.ts";
import { Cli } from "./cli_run.ts";
import { type ClientPackage, loadClients } from "./clients_connect.ts";
import { type ClientEndpoint, startClientEndpoint } from "./clients_endpoint.ts";
import { clientsModule, cliProgram } from "./clients_packages.ts";

const START_MS = 60_000;
const [program, module] = [await cliProgram(), await clientsModule()];
const GREETER = { name: "Greeter", _kind: "service" } as const;
const COUNTER = { name: "Counter", _kind: "object" } as const;
const TOKENS = {
  "token-of-admin": "admin",
  "token-of-viewer": "viewer",
  "token-of-greeter": "invoke:Greeter/*",
};

let target: Target, endpoint: ClientEndpoint;
beforeAll(async () => {
  const lines = await Promise.all(
    Object.entries(TOKENS).map(async ([token, role]) => `t ${await digestOf(token)} ${role}`),
  );
  endpoint = await startClientEndpoint();
  target = await startTarget({ "auth.tokens": lines.join("\n") }, "perdure");
}, START_MS);
afterAll(async () => {
  await target?.close();
  await endpoint?.close();
});

describe.skipIf(program === undefined)("the command line, unmodified", () => {
  async function run(token: string | undefined, ...args: string[]) {
    const cli = new Cli(program!, target, token);
    try {
      return await cli.run(args);
    } finally {
      cli.close();
    }
  }

  test("registers and lists with a token of its variable, and without one says why not", async () => {
    const register = ["-y", "deployments", "register", endpoint.url];
    for (const token of [undefined, "wrong", "token-of-viewer"]) {
      const refused = await run(token, ...register);
      expect(refused.code, refused.text).not.toBe(0);
    }
    const registered = await run("token-of-admin", ...register);
    expect(registered.code, registered.text).toBe(0);
    const listed = await run("token-of-viewer", "services", "list");
    expect([listed.code, listed.text]).toEqual([0, expect.stringContaining("Greeter")]);
    const sql = await run("token-of-viewer", "sql", "select name from sys_service");
    expect([sql.code, sql.text]).toEqual([0, expect.stringContaining("Counter")]);
  });
});

describe.skipIf(module === undefined)("the TypeScript clients, unmodified", () => {
  test("call with a token in their headers what its role allows, and nothing else", async () => {
    const clients: ClientPackage = await loadClients(module!);
    const uri = JSON.stringify({ uri: endpoint.url, force: true });
    const headers = {
      "content-type": "application/json",
      authorization: "Bearer token-of-admin",
    };
    const { status } = await fetch(`${target.admin}/deployments`, {
      method: "POST",
      headers,
      body: uri,
    });
    expect([200, 201]).toContain(status);
    const connect = (token: string) =>
      clients.connect({ url: target.ingress, headers: { authorization: `Bearer ${token}` } });
    const greeter = connect("token-of-greeter");
    expect(await greeter.serviceClient(GREETER)["greet"]?.("you")).toBe("Hello you");
    const seen = await greeter.serviceClient(GREETER)["headers"]?.();
    expect(Object.keys(seen as object)).not.toContain("authorization");
    await expect(greeter.objectClient(COUNTER, "k")["value"]?.())
      .rejects.toMatchObject({ status: 403 });
    await expect(connect("wrong").serviceClient(GREETER)["greet"]?.("you"))
      .rejects.toMatchObject({ status: 401 });
  });
});
