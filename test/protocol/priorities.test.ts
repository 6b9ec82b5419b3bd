import { expect } from "vitest";
import { until } from "../support/child.ts";
import { attach, call, operate, request, send } from "./_ask.ts";
import { type Check, idOf, protocolSuite } from "./_suite.ts";
import type { Target } from "./_target.ts";

async function columns(
  target: Target,
  id: string,
  names: string,
): Promise<Record<string, unknown>> {
  const query = `select ${names} from sys_invocation where id = '${id}'`;
  const headers = { accept: "application/json" };
  const { body } = await request("POST", `${target.admin}/query`, { body: { query }, headers });
  return (body as { rows: Record<string, unknown>[] }).rows[0] ?? {};
}

const given: Check = async ({ target, named }) => {
  const path = `${named("Plain")}/headers`;
  const header = target.header("priority");
  const first = await send(target, path, { id: "given" }, { headers: { [header]: "9" } });
  expect((await attach(target, first)).body).toContainEqual([header, "9"]);
  expect(await columns(target, first, "priority")).toEqual({ priority: 9 });
  const second = await send(target, path, { id: "given" }, { query: "PRIORITY=0" });
  expect(await columns(target, second, "priority")).toEqual({ priority: 0 });
  await attach(target, second);
  const { status, body } = await operate(target, "restart-as-new", second);
  expect(status).toBe(200);
  const { new_invocation_id: again } = body as { new_invocation_id: string };
  await attach(target, again);
  expect(await columns(target, again, "priority")).toEqual({ priority: 0 });
};

const byHandlers: Check = async ({ target, named }) => {
  const service = named("Plain");
  const callee = { service, method: "request" };
  const answer = await call(target, `${service}/calls`, [
    { ...callee, headers: { [target.header("priority")]: "8" } },
    // The priority of the caller is its own.
    callee,
  ], { query: "priority=1" });
  const [high, usual] = answer.body as { id: string }[];
  expect(await columns(target, idOf(target, answer), "priority")).toEqual({ priority: 1 });
  expect(await columns(target, high?.id ?? "", "priority")).toEqual({ priority: 8 });
  expect(await columns(target, usual?.id ?? "", "priority")).toEqual({ priority: 4 });
};

const refused: Check = async ({ target, named }) => {
  const service = named("Slow");
  const words = "the priority '10' is invalid: expected an integer from 0, the lowest, to 9";
  const headers = { [target.header("priority")]: "10" };
  expect(await call(target, `${service}/request`, undefined, { headers })).toMatchObject({
    status: 400,
    body: { message: words },
  });
  const id = await send(target, `${service}/calls`, [{ service, method: "request", headers }]);
  let failure: Record<string, unknown> = {};
  await until("the refusal", async () => {
    failure = await columns(target, id, "last_failure, last_failure_error_code");
    return typeof failure["last_failure"] === "string";
  });
  expect(failure).toMatchObject({
    last_failure: expect.stringContaining(words),
    last_failure_error_code: "RT0017",
  });
  expect((await operate(target, "kill", id)).status).toBeLessThan(300);
};

protocolSuite("priorities", {
  "120 a call has the priority of its header or query, and so has its restart": given,
  "120b a handler gives a priority to what it calls": byHandlers,
  "120c what is no priority is refused": refused,
});
