import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { digestOf } from "../../src/auth/token_list.ts";
import { until } from "../support/child.ts";
import { register } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { shows } from "../support/tokens.ts";
import { type Started, STARTS } from "./_runtimes.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const ROLES = ["viewer", "operator", "admin", "invoke"];
const JSON_TYPE = { "content-type": "application/json" };

describe.each(Object.entries(STARTS))(
  "a promise that an operator completes on %s",
  (_, start) => {
    let endpoint: Endpoint, server: Started;

    beforeAll(async () => {
      const lines = ROLES.map(async (role) => `${role} ${await digestOf(role)} ${role}`);
      const tokens = (await Promise.all(lines)).join("\n");
      endpoint = await startEndpoint("h2");
      server = await start({ AUTH__TOKENS: tokens });
      expect((await register({ ...server, token: "admin" }, endpoint)).status).toBe(201);
    });
    afterAll(async () => {
      await server?.close();
      await endpoint?.close();
    });

    const post = async (role: string, url: string, body: unknown) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...JSON_TYPE, accept: "application/json", ...shows(role) },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    };
    const run = (key: string, verb: string) =>
      post("invoke", `${server.ingress}/svc/${verb}/Flow/${key}/run`, key);
    const complete = (how: "resolve" | "reject", key: string, more: object, role = "operator") =>
      post(role, `${server.admin}/internal/services/Flow/promises/${how}`, {
        ...{ object_key: key, name: "go" },
        ...more,
      });

    test("ends the wait of its run, once", async () => {
      const result = run("w1", "call");
      await endpoint.happens("w1 run");
      expect(await complete("resolve", "w1", { value: "{}" }, "viewer")).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining("needs the role operator") },
      });
      expect(await complete("resolve", "w1", { value: '{"by":"hand"}' })).toMatchObject({
        status: 200,
      });
      expect(await result).toMatchObject({
        status: 200,
        body: { id: "w1", value: { by: "hand" } },
      });
      for (const how of ["resolve", "reject"] as const) {
        expect(await complete(how, "w1", { value: "2", message: "no" })).toMatchObject({
          status: 409,
          body: { message: expect.stringContaining("it was completed before") },
        });
      }
    });

    test("is an error in its run when it is rejected", async () => {
      const result = run("w2", "call");
      await endpoint.happens("w2 run");
      expect((await complete("reject", "w2", { message: "too late" })).status).toBe(200);
      expect(await result).toMatchObject({ body: { id: "w2", code: 500, message: "too late" } });
    });

    test("is of a workflow that is known, and every answer is in the audit", async () => {
      expect(await complete("resolve", "nobody", { value: "1" })).toMatchObject({ status: 404 });
      const sql = "SELECT target, status, identity FROM sys_audit WHERE route LIKE '%/promises/%'";
      const rows = async () =>
        (await post("admin", `${server.admin}/query`, { query: sql })).body.rows as {
          readonly target: string;
          readonly status: number;
          readonly identity: string;
        }[];
      const found = (status: number, identity: string, key: string) => async () =>
        (await rows()).some((row) =>
          row.status === status && row.identity === identity && row.target.includes(`"${key}"`)
        );
      await until("what was done to be recorded", found(200, "operator", "w1"));
      await until("what was done twice to be recorded", found(409, "operator", "w1"));
      await until("what is unknown to be recorded", found(404, "operator", "nobody"));
      await until(
        "what was refused to be recorded",
        async () =>
          (await rows()).some(({ status, identity }) => status === 403 && identity === "viewer"),
      );
    });
  },
);
