import { OWN } from "../../src/names.ts";
import { VERSION } from "../platform/version.ts";
import type { Given } from "./about.ts";
import { CommandFailure } from "./failure.ts";
import { paint, print, visible } from "./output.ts";
import { type Port, ServerClient } from "./server_client.ts";
import { rowsOf } from "./sql.ts";

interface Finding {
  readonly check: string;
  /** `warn`: worth a look, and no failure. */
  readonly state: "ok" | "warn" | "failed";
  readonly message: string;
}

const STUCK = `select status, count(*) as n from sys_invocation
  where status in ('paused', 'backing-off') group by status`;

/**
 * `perdure check`: whether a server serves, and what needs attention. Rejects with `CommandFailure` when no
 * server answers, and when a check fails; a warning is no failure.
 */
export async function check(given: Given, isJson: boolean): Promise<void> {
  const server = new ServerClient(given);
  const findings = [
    await readiness(server, "admin", "/ready"),
    await readiness(server, "ingress", `/${OWN}/ready`),
    await versions(server),
    await deployments(server),
    await stuck(server),
  ];
  print(isJson, findings, () => findings.map(lineOf).join("\n"));
  const failed = findings.filter(({ state }) => state === "failed").length;
  if (failed === 0) return;
  throw new CommandFailure("failed", `${failed} of ${findings.length} checks failed`);
}

async function readiness(server: ServerClient, port: Port, path: string): Promise<Finding> {
  const { status, text } = await server.attempt(port, path);
  if (status === 200) return { check: port, state: "ok", message: "answers, and is ready" };
  return { check: port, state: "failed", message: `answers ${status}: ${text.trim()}` };
}

async function versions(server: ServerClient): Promise<Finding> {
  const { json } = await server.ask("admin", "/version");
  const { version } = json as { readonly version: string };
  const isSame = version.endsWith(`-perdure.${VERSION}`);
  const message = isSame ? VERSION : `the server is ${version}, this command ${VERSION}`;
  return { check: "version", state: isSame ? "ok" : "warn", message };
}

async function deployments(server: ServerClient): Promise<Finding> {
  const { json } = await server.ask("admin", "/deployments");
  const { deployments } = json as { readonly deployments: readonly unknown[] };
  const count = deployments.length;
  if (count > 0) return { check: "deployments", state: "ok", message: `${count} registered` };
  return {
    check: "deployments",
    state: "warn",
    message: `none is registered: "perdure register <uri>"`,
  };
}

async function stuck(server: ServerClient): Promise<Finding> {
  const rows = await rowsOf(server, STUCK);
  const counts = rows.map(({ status, n }) => `${n} ${status}`).join(", ");
  if (counts === "") return { check: "invocations", state: "ok", message: "none is stuck" };
  return {
    check: "invocations",
    state: "warn",
    message: `${counts}: "perdure invocations list" has the last failures`,
  };
}

const COLORS = { ok: "green", warn: "yellow", failed: "red" } as const;

function lineOf({ check, state, message }: Finding): string {
  return `${paint(COLORS[state], state.padEnd(6))}  ${check}: ${visible(message)}`;
}
