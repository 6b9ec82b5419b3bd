import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config.ts";
import {
  type HandlerOptions,
  type HandlerSchema,
  retentionOf,
  Schema,
  type SchemaLimits,
  type ServiceSchema,
} from "../../src/model/schema.ts";
import { defaults } from "../support/schema.ts";

/** What is in force for a handler. */
function effective(
  limits: SchemaLimits,
  own: { readonly service?: HandlerOptions; readonly handler?: HandlerOptions } = {},
) {
  const { service = {}, handler = {} } = own;
  const h: HandlerSchema = { name: "h", access: "none", public: true, options: handler };
  const s: ServiceSchema = {
    name: "S",
    type: "service",
    deployment: "dp_1",
    revision: 1,
    public: true,
    options: service,
    handlers: { h },
  };
  return new Schema([], { ...defaults, limits }).options(s, h);
}

const DAY_MS = 86_400_000;
const none: SchemaLimits = {};
const limits: SchemaLimits = {
  journalRetentionMsMax: 1000,
  idempotencyRetentionMsMax: 2000,
  workflowRetentionMsMax: 3000,
  attemptsMax: 3,
};

describe("the most that a server allows", () => {
  test("binds defaults, services and handlers", () => {
    const cut = {
      journalRetentionMs: 1000,
      idempotencyRetentionMs: 2000,
      workflowRetentionMs: 3000,
      retry: { ...defaults.retry, maxAttempts: 3 },
    };
    const greedy = {
      journalRetentionMs: 9000,
      idempotencyRetentionMs: 9000,
      workflowRetentionMs: 9000,
      retry: { maxAttempts: Infinity },
    };
    expect(effective(limits)).toMatchObject(cut);
    expect(effective(limits, { service: greedy })).toMatchObject(cut);
    expect(effective(limits, { handler: greedy })).toMatchObject(cut);
  });

  test("leaves a smaller value unchanged, and an absent one absent", () => {
    const modest = {
      journalRetentionMs: 0,
      idempotencyRetentionMs: 1,
      workflowRetentionMs: 3000,
      retry: { maxAttempts: 1 },
    };
    expect(effective(limits, { handler: modest })).toMatchObject(modest);
    expect(effective(limits, { service: { journalRetentionMs: 500 } }).journalRetentionMs).toBe(
      500,
    );
  });

  test("is nothing unless it is set", () => {
    const options = effective(none, { handler: { retry: { maxAttempts: Infinity } } });
    expect(options).toMatchObject({ journalRetentionMs: DAY_MS, workflowRetentionMs: DAY_MS });
    expect(options.retry.maxAttempts).toBe(Infinity);
  });

  test("binds invocations whose handler has left, and not what is shown as the default", () => {
    const schema = new Schema([], { ...defaults, limits });
    expect(schema.orphanOptions.retry.maxAttempts).toBe(3);
    expect(schema.orphanOptions.journalRetentionMs).toBe(1000);
    expect(schema.defaults.retry.maxAttempts).toBe(70);
  });
});

test("what is kept of an invocation obeys the limits", () => {
  const options = effective(limits);
  const kept = (isWorkflowRun: boolean, idempotencyKey?: string) =>
    retentionOf(options, { isWorkflowRun, idempotencyKey });
  expect(kept(false)).toEqual({ resultMs: 1000, journalMs: 1000 });
  expect(kept(false, "k")).toEqual({ resultMs: 2000, journalMs: 1000 });
  expect(kept(true)).toEqual({ resultMs: 3000, journalMs: 1000 });
  const short = effective(limits, { handler: { idempotencyRetentionMs: 10 } });
  expect(retentionOf(short, { isWorkflowRun: false, idempotencyKey: "k" })).toEqual({
    resultMs: 10,
    journalMs: 10,
  });
});

describe("settings of limits, version 7 and request identity", () => {
  const NAMES = [
    "max-journal-retention",
    "max-idempotency-retention",
    "max-workflow-completion-retention",
    "max-retry-policy-max-attempts",
  ] as const;

  test("without a setting nothing is limited, signed or experimental", () => {
    const config = readConfig({});
    for (const name of NAMES) expect(config[name]).toBe(Infinity);
    expect(config["experimental-enable-protocol-v7"]).toBe(false);
    expect(config["worker.invoker.max-awaited-future-depth"]).toBe(1000);
    expect(config["worker.invoker.request-identity-private-key-pem-file"]).toBe("");
    expect(config["worker.invoker.request-identity-private-key-pem"]).toBe("");
    expect(config["worker.invoker.request-identity-expiration"]).toBe(60_000);
  });

  test("can be set, in the names of the reference", () => {
    const file = `max-journal-retention = "1h"\nmax-retry-policy-max-attempts = 5\n` +
      `max-workflow-completion-retention = "unlimited"\n` +
      `experimental-enable-protocol-v7 = true\n` +
      `[default-retry-policy]\nmax-attempts = "unlimited"\n` +
      `[worker.invoker]\nmax-awaited-future-depth = 7\n`;
    const config = readConfig({ file, env: { RESTATE_MAX_IDEMPOTENCY_RETENTION: "0" } });
    expect(NAMES.map((name) => config[name])).toEqual([3_600_000, 0, Infinity, 5]);
    expect(config["experimental-enable-protocol-v7"]).toBe(true);
    expect(config["default-retry-policy.max-attempts"]).toBe(Infinity);
    expect(config["worker.invoker.max-awaited-future-depth"]).toBe(7);
  });

  test.each(["10", "-1s", "Unlimited", ""])("%j is no retention", (value) => {
    expect(() => readConfig({ env: { SVC_MAX_JOURNAL_RETENTION: value } })).toThrow(
      /^\[RT0002\] Cannot read SVC_MAX_JOURNAL_RETENTION: .* or "unlimited"$/,
    );
  });

  test("the key file is also known by its older name in the environment", () => {
    const name = "worker.invoker.request-identity-private-key-pem-file";
    for (const variable of ["SVC_", "RESTATE_", "RESTATE_WORKER__INVOKER__"]) {
      const env = { [`${variable}REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE`]: "/key.pem" };
      expect(readConfig({ env })[name]).toBe("/key.pem");
    }
  });
});
