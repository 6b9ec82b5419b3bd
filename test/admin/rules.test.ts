import { describe, expect, test } from "vitest";
import { FakeStore, refusal, RULES_MAX, setup } from "./_setup.ts";

const RULES = "/limits/rules";
const DELETE = "/limits/rules/bulk-delete";

test("rules are stored, answered in the order of the request, and apply at once", async () => {
  const { put, registry } = await setup();
  const { status, json } = await put(RULES, [
    { pattern: "b/*", limits: { concurrency: 100 }, description: "all of b" },
    { pattern: " a / ", disabled: true },
  ]);
  const time = expect.any(Number);
  expect(status).toBe(200);
  expect(json).toEqual([
    {
      pattern: "b/*",
      limits: { concurrency: 100 },
      description: "all of b",
      disabled: false,
      version: 1,
      last_modified_millis_since_epoch: time,
    },
    {
      pattern: "a",
      limits: {},
      disabled: true,
      version: 1,
      last_modified_millis_since_epoch: time,
    },
  ]);
  expect(registry.schema().controls.rules.ruleOf("b/x")?.limits).toEqual({ concurrency: 100 });
});

test("an entry replaces its rule: what it leaves out is gone", async () => {
  const { put } = await setup();
  await put(RULES, [{ pattern: "b/*", limits: { concurrency: 100 }, description: "all of b" }]);
  const again = await put(RULES, [{
    pattern: "b/*",
    limits: { concurrency: null },
    description: null,
  }]);
  expect(again.json).toEqual([
    {
      pattern: "b/*",
      limits: {},
      disabled: false,
      version: 2,
      last_modified_millis_since_epoch: expect.any(Number),
    },
  ]);
});

test("an empty batch changes nothing", async () => {
  const { put, registry } = await setup();
  const { status, json } = await put(RULES, []);
  expect([status, json, registry.schema().controls.rules.version]).toEqual([200, [], 0]);
});

test("a rate is shown as durations are printed everywhere", async () => {
  const { put, registry } = await setup();
  const rate = { count: 100, period: "PT90S", burst: 20 };
  const { json } = await put(RULES, [
    { pattern: "a", limits: { rate } },
    { pattern: "b", limits: { rate: { count: 1, period: "30days", burst: null } } },
    { pattern: "c", limits: { rate: null } },
  ]);
  expect(json.map(({ limits }: { limits: unknown }) => limits)).toEqual([
    { rate: { count: 100, period: "1m 30s", burst: 20 } },
    { rate: { count: 1, period: "30d" } },
    {},
  ]);
  const stored = registry.schema().controls.rules.get("a")?.limits;
  expect(stored).toEqual({ rate: { count: 100, periodMs: 90_000, burst: 20 } });
});

test("the rate of a rule survives clients that know no rates, and no others", async () => {
  const { put } = await setup();
  const rate = { count: 100, period: "1m" };
  await put(RULES, [{ pattern: "a", limits: { concurrency: 1, rate } }]);
  const disable = [{ pattern: "a", limits: { concurrency: 1 }, disabled: true }];
  const theirs = { "user-agent": "restate-cli/1.7.12 x86_64-unknown-linux-musl" };
  const kept = await put(RULES, disable, theirs);
  expect(kept.json).toMatchObject([{ disabled: true, limits: { concurrency: 1, rate } }]);
  const gone = await put(RULES, [{ pattern: "a", limits: { rate: null } }], theirs);
  expect(gone.json[0].limits).toEqual({});
  await put(RULES, [{ pattern: "a", limits: { concurrency: 1, rate } }]);
  const replaced = await put(RULES, disable);
  expect(replaced.json[0].limits).toEqual({ concurrency: 1 });
});

describe("refused with 422, which says where and what is allowed:", () => {
  const rate = (rate: unknown) => [{ pattern: "a" }, { pattern: "b", limits: { rate } }];
  const slots = "expected an integer from 1 to 4294967295";
  const period = "expected a duration from 1ms to 30d";
  test.each<[string, unknown, string]>([
    ["not an array", {}, "expected an array"],
    ["not an object", [1], "at '0', expected an object"],
    ["no pattern", [{}], "at '0.pattern', expected a string"],
    ["an empty pattern", [{ pattern: "" }], "at '0.pattern', pattern cannot be empty"],
    [
      "a long pattern",
      [{ pattern: "a/b/c/d" }],
      "at '0.pattern', too many path components (max 3)",
    ],
    [
      "no slots",
      [{ pattern: "a", limits: { concurrency: 0 } }],
      `at '0.limits.concurrency', ${slots}`,
    ],
    ["part of a slot", [{ pattern: "a", limits: { concurrency: 1.5 } }], slots],
    ["too many slots", [{ pattern: "a", limits: { concurrency: 2 ** 32 } }], slots],
    ["slots as a text", [{ pattern: "a", limits: { concurrency: "1" } }], slots],
    ["null for limits", [{ pattern: "a", limits: null }], "at '0.limits', expected an object"],
    [
      "null for disabled",
      [{ pattern: "a", disabled: null }],
      "at '0.disabled', expected a boolean",
    ],
    [
      "null for a precondition",
      [{ pattern: "a", precondition: null }],
      '{"type": "does_not_exist"}',
    ],
    [
      "an unknown precondition",
      [{ pattern: "a", precondition: { type: "x" } }],
      '{"type": "none"}',
    ],
    ["matches without a version", [{ pattern: "a", precondition: { type: "matches" } }], "version"],
    [
      "a number for a text",
      [{ pattern: "a", description: 5 }],
      "at '0.description', expected a string",
    ],
    ["a long text", [{ pattern: "a", description: "d".repeat(4097) }], "of up to 4096 characters"],
    ["a rate of zero", rate({ count: 0, period: "1m" }), `at '1.limits.rate.count', ${slots}`],
    ["a rate without a count", rate({ period: "1m" }), `at '1.limits.rate.count', ${slots}`],
    [
      "a rate without a period",
      rate({ count: 1 }),
      "at '1.limits.rate.period', expected a duration",
    ],
    ["a period of zero", rate({ count: 1, period: "0s" }), `at '1.limits.rate.period', ${period}`],
    ["a period too short", rate({ count: 1, period: "999us" }), period],
    ["a period too long", rate({ count: 1, period: "30d 1ms" }), period],
    ["a period in months", rate({ count: 1, period: "1month" }), "units of days or smaller"],
    ["a period as a number", rate({ count: 1, period: 60 }), "expected a duration such as"],
    [
      "a burst of zero",
      rate({ count: 1, period: "1m", burst: 0 }),
      `at '1.limits.rate.burst', ${slots}`,
    ],
  ])("%s", async (_, body, message) => {
    const { put, registry } = await setup();
    const { status, json } = await put(RULES, body);
    expect(status).toBe(422);
    expect(json).toEqual(refusal(null, expect.stringContaining(message)));
    expect(registry.schema().controls.rules.version).toBe(0);
  });

  test("a batch that makes too many rules", async () => {
    const { put, registry } = await setup();
    const many = Array.from({ length: RULES_MAX + 1 }, (_, at) => ({ pattern: `s${at}` }));
    const { status, json } = await put(RULES, many);
    expect(status).toBe(422);
    expect(json.message).toMatch(`rule book is full (${RULES_MAX} rules)`);
    expect(registry.schema().controls.rules.version).toBe(0);
    expect((await put(RULES, many.slice(1))).status).toBe(200);
  });
});

test("a failed precondition applies nothing of the batch, and so does a failed removal", async () => {
  const { put, post, store, registry } = await setup();
  await put(RULES, [{ pattern: "a" }, { pattern: "b" }]);
  const before = JSON.stringify(await store.load());
  const put409 = await put(RULES, [
    { pattern: "a", disabled: true },
    { pattern: "c" },
    { pattern: "b", precondition: { type: "matches", version: 9 } },
  ]);
  expect([put409.status, put409.json]).toEqual([
    409,
    refusal(null, "rule precondition Matches(v9) for pattern b failed (actual version: Some(v1))"),
  ]);
  const delete409 = await post(DELETE, [{ pattern: "a" }, { pattern: "x", expected_version: 1 }]);
  expect([delete409.status, delete409.json]).toEqual([
    409,
    refusal(null, "rule precondition Matches(v1) for pattern x failed (actual version: None)"),
  ]);
  expect(JSON.stringify(await store.load())).toBe(before);
  expect(registry.schema().controls.rules.rules.map(({ pattern }) => pattern)).toEqual(["a", "b"]);
});

test("rules are removed in bulk", async () => {
  const { put, post } = await setup();
  await put(RULES, [{ pattern: "a" }, { pattern: "b" }]);
  const { status, json } = await post(DELETE, [
    { pattern: "a/", expected_version: 1 },
    { pattern: "nope", expected_version: null },
    { pattern: "b" },
    { pattern: "b" },
  ]);
  expect([status, json]).toEqual([200, ["a", "b", "b"]]);
  expect((await post(DELETE, [{ pattern: "b" }])).json).toEqual([]);
  expect((await post(DELETE, [{ pattern: "a b" }])).status).toBe(422);
  // Made again, it has a version that it never had.
  expect((await put(RULES, [{ pattern: "a" }])).json).toMatchObject([{ version: 3 }]);
});

test("a large batch does not hold up other events", async () => {
  const { put, world } = await setup();
  const before = world.pauses;
  const many = Array.from({ length: RULES_MAX }, (_, at) => ({ pattern: `s${at}` }));
  const { status } = await put(RULES, many);
  expect(status).toBe(200);
  expect(world.pauses - before).toBeGreaterThan(RULES_MAX / 10);
});

test("a misspelled limit is warned about, and refused where that is asked for", async () => {
  const body = [{ pattern: "a", limits: { concurency: 1 } }];
  const { put } = await setup();
  const { status, headers } = await put(RULES, body);
  expect(status).toBe(200);
  expect(headers.get("x-svc-warning")).toMatch(/concurency.*concurrency/);
  const { put: strictPut, registry } = await setup(new FakeStore(), { isStrict: true });
  expect((await strictPut(RULES, body)).status).toBe(400);
  expect(registry.schema().controls.rules.version).toBe(0);
});

test("a store that fails is answered with 503, and what it kept is known afterwards", async () => {
  const { put, store, registry } = await setup();
  store.faults.push("refuse", "lose the answer");
  const { status, json } = await put(RULES, [{ pattern: "a" }]);
  expect([status, json.message]).toEqual([
    503,
    "Cannot change the rules: the store cannot be written",
  ]);
  expect((await put(RULES, [{ pattern: "a" }])).status).toBe(503);
  expect(registry.schema().controls.rules.rules).toEqual([]);
  const last = await put(RULES, [{ pattern: "a", precondition: { type: "does_not_exist" } }]);
  expect([last.status, last.json.message]).toEqual([409, expect.stringContaining("Some(v1)")]);
});

test("rules outlive the process", async () => {
  const { put, store } = await setup();
  await put(RULES, [{ pattern: "a", limits: { rate: { count: 2, period: "1s" } } }]);
  const { put: putAgain } = await setup(store);
  const { json } = await putAgain(RULES, [{ pattern: "b" }]);
  expect(json).toMatchObject([{ version: 2 }]);
});
