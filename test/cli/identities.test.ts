import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CommandAbout } from "../../adapters/cli/about.ts";
import { aboutOf, type CommandName, COMMANDS, OPERATIONS } from "../../adapters/cli/table.ts";
import { digestOf } from "../../src/auth/token_list.ts";
import { freePorts } from "../support/child.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { Server } from "../support/server.ts";
import { perdure } from "./_cli.ts";

const ROLES = ["viewer", "operator", "invoke:Greeter/*", "invoke:Counter/*", "admin"] as const;
type Role = typeof ROLES[number];
type Identity = "none" | "wrong" | Role;
const IDENTITIES: readonly Identity[] = ["none", "wrong", ...ROLES];

/** What a command needs: a role of the admin API, or a handler that may be called. */
type Need = "viewer" | "operator" | "admin" | "Greeter/greet";

interface Line {
  readonly args: readonly string[];
  readonly needs: Need;
  /** The exit code with the right role. Default: 0. */
  readonly code?: number;
}

/** An id that no invocation has: who may operate is told so, with exit code 1. */
const NOBODY = "inv_1gdJBtdVEcM919dOBhoVBm3fUMlaIHnANr";

/** What is tried of each command that asks a server. A command that is not here fails a test. */
const lines = (endpoint: string): Partial<Record<CommandName, readonly Line[]>> => ({
  register: [{ args: [endpoint, "--dry-run"], needs: "admin" }],
  call: [{ args: ["Greeter/greet", '"you"'], needs: "Greeter/greet" }],
  send: [{ args: ["Greeter/greet", '"you"'], needs: "Greeter/greet" }],
  invocations: [
    { args: ["list"], needs: "viewer" },
    { args: ["get", NOBODY], needs: "viewer", code: 1 },
    ...OPERATIONS.map((one) => ({ args: [one, NOBODY], needs: "operator", code: 1 }) as const),
  ],
  sql: [{ args: ["select 1"], needs: "viewer" }],
  check: [{ args: [], needs: "viewer" }],
});

const LEVELS: readonly string[] = ["viewer", "operator", "admin"];

function mayDo(role: Role, needs: Need): boolean {
  if (needs === "Greeter/greet") return ["operator", "admin", "invoke:Greeter/*"].includes(role);
  return LEVELS.indexOf(role) >= LEVELS.indexOf(needs);
}

/** The sentence of a refusal. */
function missing(identity: Identity, needs: Need): string {
  if (identity === "none") return "401: this server asks for a token";
  if (identity === "wrong") return "401: the bearer token is unknown or has expired";
  if (needs === "Greeter/greet") {
    return `403: the token "of-${identity}" may not call Greeter/greet`;
  }
  const has = LEVELS.includes(identity)
    ? `has the role ${identity}`
    : "has no role of the admin API";
  return `403: this needs the role ${needs}, and the token "of-${identity}" ${has}`;
}

const asksServer = ({ flags }: CommandAbout) => flags.some(({ name }) => name === "token");

const root = mkdtempSync(path.join(tmpdir(), "cli-"));
let server: Server;
let endpoint: Endpoint;

beforeAll(async () => {
  const listed = ROLES.map(async (role) => `of-${role} ${await digestOf(`a-${role}`)} ${role}`);
  const settings = {
    AUTH__TOKENS: (await Promise.all(listed)).join("\n"),
    AUTH__WRONG_TOKENS_LIMIT_PER_ADDRESS: "1000",
    AUTH__WRONG_TOKENS_LIMIT: "1000",
  };
  server = new Server({ runtime: "node", settings }, await freePorts(2), path.join(root, "data"));
  endpoint = await startEndpoint("h2");
  await server.start();
  expect((await register({ ...server, ...ports(), token: "a-admin" }, endpoint)).status).toBe(201);
}, 30_000);

afterAll(async () => {
  await server?.stop("SIGKILL");
  await endpoint?.stop();
  rmSync(root, { recursive: true, force: true });
});

const ports = () => ({ admin: server.admin, ingress: server.ingress });

test("every command that asks a server is tried here", () => {
  const asking = (Object.keys(COMMANDS) as CommandName[]).filter((one) => asksServer(aboutOf(one)));
  expect(Object.keys(lines("")).toSorted()).toEqual(asking.toSorted());
  const actions: readonly string[] = COMMANDS.invocations.arguments[0].values;
  expect(lines("").invocations?.map(({ args }) => args[0])).toEqual(actions);
});

describe.each(IDENTITIES)("with the token: %s", (identity) => {
  const token = identity === "none" ? "" : `a-${identity}`;

  test.each(Object.keys(lines("")) as CommandName[])("perdure %s", async (command) => {
    const env = { PERDURE_ADMIN: server.admin, PERDURE_INGRESS: server.ingress };
    const tried = lines(endpoint.url)[command]!.map(async ({ args, needs, code = 0 }) => {
      const ended = await perdure([command, ...args], { env: { ...env, PERDURE_TOKEN: token } });
      const isAllowed = identity !== "none" && identity !== "wrong" && mayDo(identity, needs);
      const line = [command, ...args].join(" ");
      expect([line, ended.code, ended.said]).toEqual(
        isAllowed
          ? [
            line,
            code,
            code === 0 ? "" : expect.stringMatching(/no such invocation|Cannot \S+ 1 of 1/),
          ]
          : [line, 4, expect.stringContaining(missing(identity, needs))],
      );
      if (!isAllowed) expect(ended.said).toContain("Set $PERDURE_TOKEN to a token that may do it");
      if (token !== "") expect(ended.out + ended.said).not.toContain(token);
    });
    await Promise.all(tried);
  }, 30_000);
});

test("a server that knows itself by another name wants no token", async () => {
  const [ingress = 0, admin = 0] = await freePorts(2);
  const open = new Server({ runtime: "node" }, [ingress, admin], path.join(root, "open"));
  try {
    await open.start();
    const at = `http://x.localtest.invalid:${admin}`;
    const hosts = path.join(import.meta.dirname, "_hosts.mjs");
    const env = { PERDURE_ADMIN: at, PERDURE_TOKEN: "", NODE_OPTIONS: `--import ${hosts}` };
    const { code, said } = await perdure(["sql", "select 1"], { env });
    expect([code, said]).toEqual([4, expect.stringContaining("admin.allowed-hosts")]);
    expect(said).not.toContain("PERDURE_TOKEN");
  } finally {
    await open.stop();
  }
}, 30_000);
