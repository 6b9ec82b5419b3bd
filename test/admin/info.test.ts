import { NO_CONTROLS } from "../../src/model/limits.ts";
import { expect, test } from "vitest";
import { serviceRecord } from "../../src/admin/records.ts";
import { versionRecord } from "../../src/admin/version.ts";
import type { HandlerSchema, SchemaLimits, ServiceSchema } from "../../src/model/schema.ts";
import { deploymentAt } from "../outbound/_attempts.ts";
import { defaults } from "../support/schema.ts";
import { handler, service } from "./_setup.ts";

const HOUR_MS = 3_600_000;
const limits: SchemaLimits = {
  journalRetentionMsMax: HOUR_MS,
  idempotencyRetentionMsMax: HOUR_MS,
  workflowRetentionMsMax: HOUR_MS,
  attemptsMax: 3,
};

// deno-lint-ignore no-explicit-any -- a record is read as JSON
type Json = any;

/** A service as it is shown by a server with these limits, on a request-response deployment. */
function shown(
  handlers: readonly HandlerSchema[],
  more: Partial<ServiceSchema> = {},
): Json {
  const one = { ...service("S", handlers, more), deployment: "dp_1", revision: 1 };
  const deployment = deploymentAt("http://localhost/", { mode: "requestResponse" });
  const schema = { defaults: { ...defaults, limits }, controls: NO_CONTROLS };
  return JSON.parse(JSON.stringify(serviceRecord(one, deployment, schema)));
}

const clamped = (field: string) => ({
  code: "RT0022",
  message: `The configured ${field} is clamped to the maximum server limit.`,
});
const ignored = (timeout: string, what: string) => ({
  code: "RT0021",
  message: `The configured inactivity_timeout ${timeout} will not be applied because the ${what} ` +
    "is exposed in Request/Response mode.",
});

test("defaults are cut down as well, and the remark says so", () => {
  expect(shown([handler("h")])).toMatchObject({
    journal_retention: "1h",
    idempotency_retention: "1h",
    info: [clamped("journal_retention"), clamped("idempotency_retention")],
  });
});

test("what a service or handler asks for is cut down; attempts are shown as asked for", () => {
  const h = handler("h", {
    options: {
      journalRetentionMs: 9_000_000,
      idempotencyRetentionMs: 9_000_000,
      inactivityTimeoutMs: 5000,
      retry: { maxAttempts: 20 },
    },
  });
  const record = shown([h, handler("i")], {
    options: {
      journalRetentionMs: 7_200_000,
      idempotencyRetentionMs: 1,
      inactivityTimeoutMs: 3000,
    },
  });
  expect(record).toMatchObject({
    journal_retention: "1h",
    idempotency_retention: "1ms",
    inactivity_timeout: "0s",
    retry_policy: { max_attempts: 70 },
    info: [ignored("3s", "service"), clamped("journal_retention")],
  });
  expect(record.handlers[0]).toMatchObject({
    journal_retention: "1h",
    idempotency_retention: "1h",
    retry_policy: { max_attempts: 20 },
    info: [
      ignored("5s", "handler"),
      clamped("journal_retention"),
      clamped("idempotency_retention"),
    ],
  });
  expect(record.handlers[1]).not.toHaveProperty("info");
});

test("what is not more than the most is left alone", () => {
  const options = { journalRetentionMs: HOUR_MS, idempotencyRetentionMs: 0 };
  const record = shown([handler("h", { options })], { options });
  expect(record).toMatchObject({ journal_retention: "1h", idempotency_retention: "0s" });
  expect(record).not.toHaveProperty("info");
  expect(record.handlers[0]).not.toHaveProperty("info");
});

test("how long a workflow's result is kept is remarked on with the service", () => {
  const run = handler("run", { access: "run", options: { workflowRetentionMs: 9_000_000 } });
  const options = { journalRetentionMs: 0, idempotencyRetentionMs: 0 };
  const record = shown([run], { type: "workflow", options });
  expect(record).toMatchObject({
    workflow_completion_retention: "1h",
    info: [clamped("workflow_completion_retention")],
  });
  expect(record.handlers[0]).not.toHaveProperty("info");
  expect(shown([], { options })).not.toHaveProperty("info");
});

test("experimental features that are on are shown as such", () => {
  const about = { version: "1.0.0", ingressEndpoint: "http://localhost/" };
  expect(versionRecord(about)["features"]).toMatchObject({ protocol_v7: false, vqueues: false });
  expect(versionRecord({ ...about, features: ["protocol_v7"] })["features"]).toMatchObject({
    protocol_v7: true,
    vqueues: false,
  });
});
