import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { Server } from "../support/server.ts";
import { perdure } from "./_cli.ts";

const root = mkdtempSync(path.join(tmpdir(), "cli-"));
const token = "a-token-of-operators";
let server: Server;
let endpoint: Endpoint;
let env: NodeJS.ProcessEnv;
const run = (args: readonly string[], input?: string) =>
  perdure(args, { env, ...(input !== undefined && { input }) });
const json = async (...args: string[]) => {
  const { code, out, said } = await run([...args, "--json"]);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${said}`);
  return JSON.parse(out);
};

beforeAll(async () => {
  const settings = { ADMIN__TOKEN: token, DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: "1h" };
  server = new Server({ runtime: "node", settings }, await freePorts(2), path.join(root, "data"));
  endpoint = await startEndpoint("h2");
  await server.start();
  env = { PERDURE_ADMIN: server.admin, PERDURE_INGRESS: server.ingress, PERDURE_TOKEN: token };
}, 30_000);

afterAll(async () => {
  await server?.stop("SIGKILL");
  await endpoint?.stop();
  rmSync(root, { recursive: true, force: true });
});

test("register names what can be called; a repeated one is what it was", async () => {
  expect((await run(["check"])).out).toContain("none is registered");
  const dry = await run(["register", endpoint.url, "--dry-run"]);
  expect(dry.out).toMatch(/^It can be registered:/);
  const { out, code } = await run(["register", endpoint.url]);
  expect([code, out]).toEqual([0, expect.stringMatching(/^Registered as dp_\w+:\n {2}\w/)]);
  expect(await json("register", endpoint.url)).toMatchObject({ services: expect.any(Array) });
});

test("without the token, or with a wrong one, the exit code is 4", async () => {
  const none = await perdure(["sql", "select 1"], { env: { ...env, PERDURE_TOKEN: "" } });
  expect(none).toMatchObject({ code: 4, out: "" });
  expect(none.said).toContain("Set $PERDURE_TOKEN");
  const wrong = await run(["sql", "select 1", "--token", "wrong-one"]);
  expect(wrong.code).toBe(4);
  expect(wrong.said).not.toContain("wrong-one");
});

test("sql prints a table without colors in a pipe, or rows as JSON", async () => {
  const query = "select name from sys_service order by name limit 1";
  const { out } = await run(["sql", query]);
  expect(out).toMatch(/^name\n\w+\n$/);
  expect(await json("sql", query)).toEqual([{ name: expect.any(String) }]);
  expect((await run(["sql", "-"], "select 1 as one")).out).toBe("one\n1\n");
  expect(await run(["sql", "delete from state"])).toMatchObject({ code: 1, out: "" });
});

test("call prints the result, send the id, invocations what became of them", async () => {
  const { out, code, said } = await run(["call", "Greeter/greet", '"Ada"']);
  expect([code, said]).toEqual([0, ""]);
  expect(await json("call", "Greeter/greet", '"Ada"'))
    .toEqual({ id: expect.stringMatching(/^inv_/), result: JSON.parse(out) });
  const id = (await run(["send", "Greeter/greet", '"Ada"', "--delay", "1h"])).out.trim();
  expect(id).toMatch(/^inv_/);
  expect(await json("invocations", "get", id)).toMatchObject([{ id, status: "scheduled" }]);
  expect((await run(["invocations", "--status", "scheduled"])).out).toContain(id);
  expect(await json("invocations", "list", "--service", "no'ne")).toEqual([]);
  expect(await json("invocations", "kill", id)).toEqual([{ id, ok: true }]);
  const none = await run(["call", "Greeter/noSuchHandler"]);
  expect(none).toMatchObject({ code: 1, out: "" });
  const failed = await run(["call", "Greeter/refuse", '"the shop is closed"']);
  expect([failed.code, failed.said]).toEqual([1, expect.stringContaining("the shop is closed")]);
  expect(await json("call", "Greeter/nothing")).toMatchObject({ result: null });
}, 30_000);

test("what a handler forbids is no matter of tokens", async () => {
  const { code, said } = await run([
    "call",
    "Greeter/refuse",
    '{"message": "no", "errorCode": 403}',
  ]);
  expect([code, said]).toEqual([1, expect.stringContaining("403: no")]);
  expect(said).not.toContain("PERDURE_TOKEN");
}, 30_000);

test("check passes, and fails when the server does", async () => {
  const { code, out } = await run(["check"]);
  expect([code, out]).toEqual([0, expect.stringContaining("answers, and is ready")]);
  expect(await json("check")).toContainEqual(
    expect.objectContaining({ check: "version", state: "ok" }),
  );
});

test("backup, verify, export, import and reshard do what the tools do", async () => {
  const at = (name: string) => path.join(root, name);
  expect(await json("backup", "--base-dir", server.folder, "--to", at("backup")))
    .toMatchObject({ command: "backup", ok: true });
  const from = ["--base-dir", at("backup")];
  expect(await json("verify", ...from)).toMatchObject({ ok: true, problems: [] });
  expect(await json("export", ...from, "--to", at("dump"))).toMatchObject({ ok: true });
  expect(await json("import", "--from", at("dump"), "--base-dir", at("new"))).toMatchObject({
    messages: expect.arrayContaining([expect.stringContaining("Imported and checked")]),
  });
  const { code, said } = await run(["reshard", ...from, "--to-partitions", "2", "--to", at("two")]);
  expect([code, said]).toEqual([0, expect.stringContaining("Copied and checked")]);
  const held = await run(["verify", "--base-dir", server.folder, "--json"]);
  expect(held.code).toBe(1);
  expect(JSON.parse(held.said)).toMatchObject({ error: { code: "RT0005" } });
}, 30_000);
