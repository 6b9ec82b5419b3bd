import { expect } from "vitest";
import { attach } from "./_ask.ts";
import { becomes, FLOW_CONTROL, query, sendHolds, setRules, started } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite } from "./_suite.ts";
import type { Target } from "./_target.ts";

/** Two of a scope run and four wait: the tables say so. */
const waiting: Check = async (world) => {
  const { target, endpoint } = world, scope = `t${world.transport}`;
  await setRules(target, { [scope]: 2 });
  const { names, ids } = await sendHolds(world, scope, 6);
  await until("two to start", () => started(world, names).length === 2);
  for (const id of ids.slice(2)) await becomes(target, id, "pending");
  await expectLimit(target, scope);
  const queue = await expectQueue(target, scope, ids[2]!);
  await expectEntries(target, queue, ids[5]!);
  for (const name of names) endpoint.release(name);
  for (const id of ids) await attach(target, id);
  await until("the queue to be empty", async () => {
    const [row] = await query(target, `select * from sys_vqueue_meta where id = '${queue}'`);
    return row?.["is_active"] === false && row["num_finished"] === 6;
  });
  expect(await query(target, `select * from sys_user_limits where scope = '${scope}'`)).toEqual([]);
};

async function expectLimit(target: Target, scope: string): Promise<void> {
  const [limit] = await query(target, `select * from sys_user_limits where scope = '${scope}'`);
  expect(limit).toMatchObject({
    scope,
    level: "Scope",
    usage: 2,
    concurrency_limit: 2,
    rule_pattern: scope,
    available: 0,
    num_waiters: 1,
  });
  const [queue] = await query(
    target,
    `select s.partition_key from sys_scheduler s join sys_vqueue_meta m on m.id = s.id
      where m.scope = '${scope}'`,
  );
  // The reference shows the first key of the partition, one of two (docs/spec/queries.md#tables).
  const key = Number(queue?.["partition_key"]), first = key >= HALF ? HALF : 0;
  expect(limit?.["partition_key"]).toBe(target.kind === "reference" ? first : key);
}

const HALF = 2 ** 63;

/** Answers the id of the only queue of a scope. */
async function expectQueue(target: Target, scope: string, first: string): Promise<string> {
  const [meta] = await query(target, `select * from sys_vqueue_meta where scope = '${scope}'`);
  const counts = { num_inbox: 4, num_running: 2, num_suspended: 0, num_paused: 0, num_finished: 0 };
  expect(meta).toMatchObject({ is_active: true, queue_is_paused: false, scope, ...counts });
  const queue = String(meta?.["id"]);
  const [head] = await query(target, `select * from sys_scheduler where id = '${queue}'`);
  expect(head).toMatchObject({
    num_inbox: 4,
    status: "blocked",
    head_entry_id: first,
    blocked_on: "limit-key-concurrency",
    blocked_on_json: JSON.stringify({
      resource: "limit-key-concurrency",
      scope,
      limit_key: "",
      blocked_level: "scope",
      blocked_rule: scope,
    }),
  });
  return queue;
}

async function expectEntries(target: Target, queue: string, last: string): Promise<void> {
  const stages = `select stage, status, count(*) as n from sys_vqueues where id = '${queue}'
    group by stage, status order by stage`;
  expect(await query(target, stages)).toEqual([
    { stage: "inbox", status: "new", n: 4 },
    { stage: "running", status: "started", n: 2 },
  ]);
  const [entry] = await query(
    target,
    `select e.stage, e.has_lock, i.vqueue_id, i.status from sys_vqueue_entry_status e
      join sys_invocation i on i.id = e.entry_id where e.entry_id = '${last}'`,
  );
  expect(entry).toEqual({ stage: "inbox", has_lock: false, vqueue_id: queue, status: "pending" });
}

protocolSuite("tables of limits", {
  "117 the tables of flow control show what runs and what waits": waiting,
}, { options: { ...FLOW_CONTROL, "default-num-partitions": "2" } });
