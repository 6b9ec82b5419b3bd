import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { printAwakeableId } from "../../src/model/awakeable.ts";
import { printQueueId } from "../../src/model/queue.ts";
import type { Introspection } from "../../src/query_port.ts";
import { answerOf, rowsOf } from "./_small.ts";
import { Asking, Files, inFile, sorted } from "./_united.ts";
import * as waiting from "./_waiting_rows.ts";
import { AT, ISO } from "./_waiting_rows.ts";

const files = new Files();
const asking = new Asking();
let introspection: Introspection, copying: Introspection, spread: Introspection;

beforeAll(async () => {
  const url = await files.make("all.db", waiting.rows);
  introspection = asking.open([inFile(url)]);
  copying = asking.open([inFile(url), inFile(await files.make("none.db", {}))]);
  const parts: string[] = [];
  for (let i = 0; i < 3; i++) parts.push(await files.make(`${i}.db`, waiting.part(i)));
  spread = asking.open(parts.map(inFile));
}, 30_000);

afterAll(async () => {
  await asking.close();
  await files.close();
});

const ASKED = "select waiting_on, waiting_reason from sys_invocation";

/** Both answers for an invocation. */
async function reasonOf(
  id: string,
  from = introspection,
): Promise<{ readonly on?: object; readonly text?: string }> {
  const [row] = await rowsOf(from, `${ASKED} where id = '${id}'`) as Record<
    string,
    string
  >[];
  const { waiting_on: on, waiting_reason: text } = row ?? {};
  return { ...(on !== undefined && { on: JSON.parse(on) }), ...(text !== undefined && { text }) };
}

type Case = readonly [what: string, id: string, text: string, on: object];

const error = "[500 Internal] it's broken";

const CASES: readonly Case[] = [
  ["a delayed start", waiting.scheduled, `starts at ${ISO}`, { for: "start", at: ISO }],
  [
    "a retry",
    waiting.backingOff,
    `waits until ${ISO} for its next attempt, after 2 that failed: RT0007 ${error}`,
    { for: "retry", at: ISO, failed: 2, code: "RT0007", error },
  ],
  [
    "an operator, after a failure",
    waiting.pausedBy,
    `is paused since ${ISO} until it is resumed, after RT0007 ${error}`,
    { for: "operator", since: ISO, code: "RT0007", error },
  ],
  ["an operator", waiting.pausedOnly, "is paused until it is resumed", { for: "operator" }],
  [
    "a slot of the invoker",
    waiting.ready,
    "waits for a slot of worker.invoker.concurrent-invocations-limit",
    { for: "attempt" },
  ],
  [
    "a lock",
    waiting.behind,
    `waits for the lock of Cart/ada, which ${waiting.holder} holds since ${ISO}, ` +
    "place 3 of its queue",
    { for: "lock", lock: "Cart/ada", holder: waiting.holder, since: ISO, place: 3 },
  ],
  [
    "a lock in a scope",
    waiting.scopedBehind,
    `waits for the lock of Cart/a/b in scope acme, which ${waiting.scopedHolder} holds ` +
    `since ${ISO}, place 1 of its queue`,
    {
      for: "lock",
      lock: "Cart/a/b",
      scope: "acme",
      holder: waiting.scopedHolder,
      since: ISO,
      place: 1,
    },
  ],
];

const LIMITS: readonly Case[] = [
  [
    "a slot of its scope",
    waiting.ofScope,
    'waits for a slot of rule "acme" for acme (level scope, 3 of 3 in use), place 1 of its queue',
    { for: "slot", level: "scope", name: "acme", rule: "acme", used: 3, limit: 3, place: 1 },
  ],
  [
    "a slot of its scope, behind another one",
    waiting.secondOfScope,
    'waits for a slot of rule "acme" for acme (level scope, 3 of 3 in use), place 2 of its queue',
    { for: "slot", level: "scope", name: "acme", rule: "acme", used: 3, limit: 3, place: 2 },
  ],
  [
    "a slot of its limit key",
    waiting.ofLevel,
    'waits for a slot of rule "acme/*" for acme/eu (level l1, 1 of 1 in use), place 1 of its queue',
    { for: "slot", level: "l1", name: "acme/eu", rule: "acme/*", used: 1, limit: 1, place: 1 },
  ],
  [
    "a slot of the second level",
    waiting.ofBoth,
    'waits for a slot of rule "acme/eu/*" for acme/eu/x (level l2, 1 of 1 in use), ' +
    "place 1 of its queue",
    { for: "slot", level: "l2", name: "acme/eu/x", rule: "acme/eu/*", used: 1, limit: 1, place: 1 },
  ],
  [
    "a slot of its service",
    waiting.ofService,
    "waits for a slot of Payment (level service, 1 of 1 in use), place 1 of its queue",
    { for: "slot", level: "service", name: "Payment", used: 1, limit: 1, place: 1 },
  ],
  [
    "a slot of its handler",
    waiting.ofHandler,
    "waits for a slot of Mail/h (level handler, 1 of 1 in use), place 1 of its queue",
    { for: "slot", level: "handler", name: "Mail/h", used: 1, limit: 1, place: 1 },
  ],
  [
    "its turn, while there is room",
    waiting.unlimited,
    "waits for its turn, place 1 of its queue",
    { for: "turn", place: 1, since: ISO },
  ],
  [
    "its turn, since only a first start needs a token",
    waiting.resumed,
    "waits for its turn, place 1 of its queue",
    { for: "turn", place: 1, since: ISO },
  ],
];

const vqueue = printQueueId({ service: "Q", scope: "s", limitKey: "k" });
const PAUSES: readonly Case[] = ([
  ["service", "Stopped", waiting.ofPausedService],
  ["deployment", "dp_old", waiting.ofPausedDeployment],
  ["deployment", "dp_new", waiting.ofLatestDeployment],
  ["queue", vqueue, waiting.ofPausedQueue],
] as const).map(([paused, name, id]) => [
  `${paused} ${name}`,
  id,
  `waits because ${paused} ${name} is paused`,
  { for: "resume", paused, name, since: ISO },
]);

const AWAITED: readonly (readonly [what: string, id: string, text: string, on: object])[] = [
  [
    "a sleep",
    waiting.sleeping,
    `the end of its sleep at ${ISO}`,
    { kind: "sleep", until: ISO },
  ],
  [
    "an awakeable",
    waiting.awakeable,
    `awakeable ${printAwakeableId(waiting.awakeable, 17)}`,
    { kind: "awakeable", id: printAwakeableId(waiting.awakeable, 17), index: 17 },
  ],
  ["a signal", waiting.signal, 'signal "it\'s "done""', { kind: "signal", name: 'it\'s "done"' }],
  ["a promise", waiting.promised, 'promise "approved"', { kind: "promise", name: "approved" }],
  [
    "a call",
    waiting.calling,
    `the result of Callee/k/h, ${waiting.callee}`,
    { kind: "call", id: waiting.callee, target: "Callee/k/h" },
  ],
  ["anything else", waiting.unknown, "completion 5", { kind: "completion", index: 5 }],
];

test.each([...CASES, ...LIMITS, ...PAUSES])("it waits for %s", async (_, id, text, on) => {
  expect(await reasonOf(id)).toEqual({ on, text });
});

test.each(AWAITED)("suspended, it waits for %s", async (_, id, text, item) => {
  const on = { for: "notification", how: "one", on: [item], count: 1 };
  expect(await reasonOf(id)).toEqual({ on, text: `waits for ${text}` });
});

interface Token {
  readonly level: string;
  readonly id: string;
  readonly name: string;
  readonly rule?: string;
}

const TOKENS: readonly Token[] = [
  { level: "scope", id: waiting.rated, name: "slow", rule: "slow" },
  { level: "service", id: waiting.ofServiceRate, name: "Calm" },
  { level: "handler", id: waiting.ofHandlerRate, name: "Paced/h" },
];

const SPREAD = [false, true];

describe.each(SPREAD)("where rows are spread over databases: %s", (isSpread) => {
  test.each(TOKENS)(
    "a token of a $level is there when the rate says",
    async ({ level, id, name, rule }) => {
      const before = Date.now();
      const { on, text } = await reasonOf(id, isSpread ? spread : introspection);
      const { until } = on as { readonly until: string };
      expect(on).toEqual({
        for: "token",
        level,
        name,
        ...(rule !== undefined && { rule }),
        limit: 2,
        period_ms: 600_000,
        until,
        place: 1,
      });
      // Half a token is missing, and there is one every five minutes.
      const due = Date.parse(until) - 150_000;
      expect(due).toBeGreaterThanOrEqual(before - 1);
      expect(due).toBeLessThanOrEqual(Date.now() + 1);
      const of = rule === undefined ? "" : `rule "${rule}" for `;
      expect(text).toBe(
        `waits for the rate of ${of}${name} (level ${level}, 2 starts each 600000 ms), ` +
          `which allows the next one at ${until}, place 1 of its queue`,
      );
    },
  );
});

test("of several notifications it says how many are enough", async () => {
  const id = printAwakeableId(waiting.several, 17);
  expect((await reasonOf(waiting.several)).text)
    .toBe(`waits for all of: completion 4; awakeable ${id}`);
  const inner = printAwakeableId(waiting.nested, 18);
  expect((await reasonOf(waiting.nested)).text)
    .toBe(`waits for some of: the end of its sleep at ${ISO}; awakeable ${inner}`);
  const { on, text } = await reasonOf(waiting.many);
  expect(on).toMatchObject({ how: "one", count: 23 });
  expect((on as { readonly on: unknown[] }).on).toHaveLength(20);
  expect(text).toMatch(/^waits for one of: completion 0; .* completion 19; and 3 more$/);
  expect(await reasonOf(waiting.nothing)).toEqual({
    on: { for: "notification", how: "one", on: [], count: 0 },
    text: "waits for a notification",
  });
});

test("what runs or is completed waits for nothing", async () => {
  expect(await reasonOf(waiting.completed)).toEqual({});
  const running = [{ id: waiting.ready, startedAt: AT, deployment: "dp_1" }];
  const sql = `${ASKED} where id = '${waiting.ready}'`;
  const answer = await introspection.query({ sql, format: "json", version: "1", running });
  expect(await new Response(answer).json()).toEqual({ rows: [{}] });
});

test("every invocation that neither runs nor is completed has a sentence", async () => {
  const sql = "select status, waiting_reason is null as none from sys_invocation";
  const rows = await rowsOf(introspection, sql) as { status: string; none: boolean }[];
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter(({ none }) => none)).toEqual([{ status: "completed", none: true }]);
});

test("it is the same where rows are copied, and within other statements", async () => {
  const bare = `${ASKED} where waiting_reason not like '%the rate of%'`;
  const all = sorted(await rowsOf(introspection, bare));
  expect(all.length).toBeGreaterThan(30);
  expect(sorted(await rowsOf(copying, bare))).toEqual(all);
  expect(sorted(await rowsOf(spread, bare))).toEqual(all);
  const nested = `select * from (select upper(r) as u from (select lower(waiting_reason) as r
    from (select * from sys_invocation) as a where waiting_reason like '%lock%') as b) as c`;
  expect(await answerOf(introspection, nested)).toContain("WAITS FOR THE LOCK OF CART/ADA");
});
