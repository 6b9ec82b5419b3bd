import { describe, expect, test } from "vitest";
import { printQueueId } from "../../src/model/queue.ts";
import { useOneAndThreeFiles } from "./_one_and_three.ts";
import { NOW, Stored } from "./_queued.ts";
import { rowsOf } from "./_small.ts";
import { damage, inFile, sorted } from "./_united.ts";

// The tables of flow control, of rows as the engine leaves them: in one file, whose rows are attached,
// and in three, whose rows are copied.

const stored = new Stored();
const invoked = { kind: "invoked" } as const;
const queue = (scope: string, limitKey?: string, service = "Greeter") =>
  printQueueId({ service, scope, limitKey });

// Two run, four wait: the scope is full.
stored.rule("fc1", { concurrency: 2 });
for (let i = 0; i < 2; i++) stored.invocation({ scope: "fc1", status: invoked });
const heads = [4000, 3000, 2000, 1000].map((ageMs) =>
  stored.invocation({ scope: "fc1", status: "queued", ageMs })
);
// The first level is full, by a rule for all scopes; the other one of the same scope is not.
stored.rule("*/t", { concurrency: 1 });
stored.invocation({ scope: "fc2", limitKey: "t/u", status: invoked });
const inLevel = stored.invocation({ scope: "fc2", limitKey: "t/u", status: "queued" });
stored.invocation({ scope: "fc2", limitKey: "t/v", status: "queued" });
stored.invocation({ scope: "fc2", limitKey: "z", status: invoked });
// Backing off with and without slots, and what is over.
stored.rule("fc3", { concurrency: 9 }, { disabled: true });
stored.rule("*", { concurrency: 7 });
stored.invocation({ scope: "fc3", status: { kind: "backingOff", until: NOW + 500, holds: true } });
const later = stored.invocation({
  scope: "fc3",
  status: { kind: "backingOff", until: NOW + 9001 },
});
stored.invocation({ scope: "fc3", status: { kind: "suspended" } as never });
stored.invocation({
  scope: "fc3",
  status: { kind: "completed" },
  row: { runningAt: NOW - 9001, completedAt: NOW - 4001, waitedMs: { concurrency: 1000 } },
});
// An object whose key is held, in a scope and without.
for (const scope of [undefined, "fc2"]) {
  const object = { service: "Cart", key: "held", ...(scope && { scope }) };
  stored.invocation({ ...object, status: invoked });
  const inboxedAt = NOW - 2500;
  stored.invocation({ ...object, status: { kind: "inboxed", seq: 1 }, row: { inboxedAt } });
}
// Rates: a first start waits for a token, what has run before does not.
stored.rule("slow", { rate: { count: 1, periodMs: 60_000, burst: 3 } });
stored.bucket("scope:slow", 400_000, NOW - 30_000);
stored.invocation({ scope: "slow", status: "queued", by: "rate", ageMs: 1500 });
// Without scopes.
stored.service("Payment", { limits: { concurrency: 1 } });
stored.invocation({ service: "Payment", status: invoked });
stored.invocation({ service: "Payment", status: "queued" });
stored.service("Mail", { handlers: { send: { concurrency: 1 } } });
stored.invocation({ service: "Mail", handler: "send", status: invoked });
stored.invocation({ service: "Mail", handler: "send", status: "queued" });
stored.paused("queue", queue("held"));
stored.invocation({ scope: "held", status: "queued", by: "paused" });
stored.invocation({ service: "Soon", status: { kind: "scheduled", at: NOW + 60_000 } });

const { open, files, asking } = useOneAndThreeFiles(stored);
const rows = (sql: string, from = "one file") => rowsOf(open[from]!, sql, stored.running);

describe.each(["one file", "three files"])("of %s", (from) => {
  test("limits are shown with their use, their rule, and how many queues wait", async () => {
    const found = await rows("select * from sys_user_limits order by scope, level, l1, l2", from);
    const limited = { concurrency_limit: 2, rule_pattern: "fc1", available: 0 };
    const all = { concurrency_limit: 7, rule_pattern: "*" };
    const level = { scope: "fc2", l1: "t", level: "Level2", num_waiters: 0 };
    expect(found).toEqual([
      { scope: "fc1", level: "Scope", usage: 2, ...limited, num_waiters: 1 },
      {
        scope: "fc2",
        l1: "t",
        level: "Level1",
        usage: 1,
        concurrency_limit: 1,
        rule_pattern: "*/t",
        available: 0,
        num_waiters: 2,
      },
      { scope: "fc2", l1: "z", level: "Level1", usage: 1, num_waiters: 0 },
      { ...level, l2: "u", usage: 1 },
      { ...level, l2: "v", usage: 0 },
      { scope: "fc2", level: "Scope", usage: 3, ...all, available: 4, num_waiters: 0 },
      { scope: "fc3", level: "Scope", usage: 1, ...all, available: 6, num_waiters: 0 },
      { scope: "held", level: "Scope", usage: 0, ...all, available: 7, num_waiters: 0 },
      {
        scope: "slow",
        level: "Scope",
        usage: 0,
        rule_pattern: "slow",
        num_waiters: 1,
        rate_count: 1,
        rate_period: "PT60S",
        rate_burst: 3,
        rate_available: 0,
      },
    ].map((one) => ({ partition_key: expect.any(Number), ...one })));
    const queues = `select m.scope, m.limit_key from sys_user_limits as u join sys_vqueue_meta as m
      on m.partition_key = u.partition_key and m.scope = u.scope where u.scope = 'fc1'`;
    expect(await rows(queues, from)).toEqual([{ scope: "fc1" }]);
  });

  test("a queue is shown with its head and what that waits for", async () => {
    const [found] = await rows(
      `select * from sys_scheduler where id = '${queue("fc1")}'`,
      from,
    ) as Record<string, unknown>[];
    expect(found).toMatchObject({
      num_inbox: 4,
      status: "blocked",
      head_entry_id: heads[0],
      blocked_on: "limit-key-concurrency",
      blocked_on_json: '{"resource":"limit-key-concurrency","scope":"fc1","limit_key":"",' +
        '"blocked_level":"scope","blocked_rule":"fc1"}',
      concurrency_rules_block_duration: "PT4S",
      lock_block_duration: "P0D",
    });
    expect(found).toHaveProperty("partition_key");
    const level = await rows(
      `select head_entry_id, blocked_on_json from sys_scheduler where id = '${
        queue("fc2", "t/u")
      }'`,
      from,
    );
    expect(level).toEqual([{
      head_entry_id: inLevel,
      blocked_on_json: '{"resource":"limit-key-concurrency","scope":"fc2","limit_key":"t/u",' +
        '"blocked_level":"level1","blocked_rule":"*/t"}',
    }]);
  });

  test("every cause of waiting has its name", async () => {
    const found = await rows(
      `select s.blocked_on, s.blocked_on_json as json, s.status, m.service_name as service, m.scope
        from sys_scheduler s join sys_vqueue_meta m on m.id = s.id
        where m.scope is null or m.scope not in ('fc1') and s.blocked_on <> 'limit-key-concurrency'`,
      from,
    );
    const lock = (scope: string | null) =>
      JSON.stringify({ resource: "lock", scope, lock_name: "Cart/held" });
    const rate = JSON.stringify({
      resource: "throttling_rules",
      scope: "slow",
      limit_key: "",
      blocked_level: "scope",
      blocked_rule: "slow",
    });
    const held = JSON.stringify({ resource: "paused", paused: "queue", name: queue("held") });
    const status = "blocked";
    expect(sorted(found)).toEqual(sorted([
      { blocked_on: "lock", json: lock(null), status, service: "Cart" },
      { blocked_on: "lock", json: lock("fc2"), status, service: "Cart", scope: "fc2" },
      { blocked_on: "throttling_rules", json: rate, status, service: "Greeter", scope: "slow" },
      {
        blocked_on: "service-concurrency",
        json: '{"resource":"service-concurrency","service":"Payment"}',
        status,
        service: "Payment",
      },
      {
        blocked_on: "handler-concurrency",
        json: '{"resource":"handler-concurrency","service":"Mail","handler":"send"}',
        status,
        service: "Mail",
      },
      { blocked_on: "paused", json: held, status, service: "Greeter", scope: "held" },
      { status: "scheduled", service: "Soon" },
    ]));
  });

  test("what waits for a time says when", async () => {
    const found = await rows(
      `select status, head_entry_id, scheduled_at from sys_scheduler where id = '${queue("fc3")}'`,
      from,
    );
    const scheduled_at = new Date(NOW + 9001).toISOString();
    expect(found).toEqual([{ status: "scheduled", head_entry_id: later, scheduled_at }]);
  });

  test("a virtual queue has counts by stage, and averages of those that it concerns", async () => {
    const sql = (scope: string) =>
      `select * from sys_vqueue_meta where scope = '${scope}' and service_name = 'Greeter'`;
    const [full] = await rows(sql("fc1"), from);
    expect(full).toMatchObject({
      id: queue("fc1"),
      is_active: true,
      queue_is_paused: false,
      service_name: "Greeter",
      scope: "fc1",
      avg_blocked_on_concurrency_rules: "PT1.667S",
      num_inbox: 4,
      num_running: 2,
      num_suspended: 0,
      num_paused: 0,
      num_finished: 0,
    });
    const [mixed] = await rows(sql("fc3"), from);
    expect(mixed).toMatchObject({
      last_finish_at: new Date(NOW - 4001).toISOString(),
      avg_run_duration: "PT5S",
      avg_end_to_end_duration: "PT5.999S",
      avg_blocked_on_concurrency_rules: "PT0.25S",
      num_inbox: 1,
      num_running: 1,
      num_suspended: 1,
      num_finished: 1,
    });
    const paused = await rows(
      "select scope from sys_vqueue_meta where queue_is_paused",
      from,
    );
    expect(paused).toEqual([{ scope: "held" }]);
  });

  test("an object has a virtual queue of its own, named like its lock", async () => {
    const sql = `select lock_name, scope, sum(num_inbox) as backlog from sys_vqueue_meta
      where service_name = 'Cart' and num_inbox > 0 group by lock_name, scope`;
    expect(sorted(await rows(sql, from))).toEqual(sorted([
      { lock_name: "Cart/held", backlog: 1 },
      { lock_name: "Cart/held", scope: "fc2", backlog: 1 },
    ]));
    const lock = "select count(*) as n from sys_locks where lock_name = 'Cart/held'";
    expect(await rows(lock, from)).toEqual([{ n: 2 }]);
  });

  test("entries have a stage, a status and their waits", async () => {
    const entries = (scope: string) =>
      rows(
        `select stage, status, count(*) as n from sys_vqueues
        where id = '${queue(scope)}' group by stage, status`,
        from,
      );
    expect(sorted(await entries("fc1"))).toEqual(sorted([
      { stage: "inbox", status: "new", n: 4 },
      { stage: "running", status: "started", n: 2 },
    ]));
    expect(sorted(await entries("fc3"))).toEqual(sorted([
      { stage: "finished", status: "succeeded", n: 1 },
      { stage: "inbox", status: "backing-off", n: 1 },
      { stage: "running", status: "backing-off", n: 1 },
      { stage: "suspended", status: "started", n: 1 },
    ]));
    const waits = await rows(
      `select e.total_blocked_on_concurrency_rules as total, e.has_lock, i.queue_position as place,
        e.latest_attempt_blocked_on_concurrency_rules as latest, i.waited_for_concurrency as waited
        from sys_vqueue_entry_status e join sys_invocation i on i.id = e.entry_id
        where e.entry_id = '${heads[1]}' and e.stage <> 'finished'`,
      from,
    );
    const three = "PT3S";
    expect(waits).toEqual([
      { total: three, latest: three, waited: three, has_lock: false, place: 2 },
    ]);
  });
});

test("a statement about what is open reads no completed invocation", async () => {
  const url = await files.make("damaged.db", stored.rows());
  // Whatever reads it fails: it is in the only completed one.
  await damage(url, '"waitedMs":{"concurrency":');
  const damaged = asking.open([inFile(url)], { clock: { now: () => NOW } });
  for (const sql of ABOUT_OPEN) {
    expect((await rowsOf(damaged, sql, stored.running)).length, sql).toBeGreaterThan(0);
  }
  await expect(rowsOf(damaged, "select * from sys_vqueue_meta")).rejects
    .toThrow("rows are damaged");
});

const ABOUT_OPEN = [
  "select service_name, sum(num_inbox) from sys_vqueue_meta where is_active = true group by 1",
  "select id from sys_vqueue_meta where service_name = 'Greeter' and (num_inbox > 0 or num_paused > 0)",
  "select * from sys_vqueue_meta where num_running > 0",
  "select * from sys_user_limits",
  "select * from sys_scheduler",
  "select count(*) from sys_vqueues where stage = 'inbox'",
  "select entry_id, vqueue_id from sys_vqueue_entry_status where stage <> 'finished'",
  "select id, queue_position from sys_invocation where status = 'pending'",
  "select lock_name from sys_locks",
];
