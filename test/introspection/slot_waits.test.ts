import { describe, expect, test } from "vitest";
import { printQueueId } from "../../src/model/queue.ts";
import { useOneAndThreeFiles } from "./_one_and_three.ts";
import { NOW, Stored } from "./_queued.ts";
import { rowsOf } from "./_small.ts";
import { sorted } from "./_united.ts";

// How long attempts wait for slots of the invoker, in one file and in three.

const stored = new Stored();
const given = { scope: "s", status: { kind: "invoked" }, ageMs: 2000 } as const;
const first = { attempt: 1, heard: 0 };
// One runs that has waited; one waits now; of one the wait is stored already.
const ran = stored.invocation({ ...given, slotWaitMs: 1200, row: first });
const ready = stored.invocation({ ...given, isReady: true, row: first });
const counted = stored.invocation({
  ...given,
  slotWaitMs: 400,
  row: { attempt: 2, heard: 3, waitedMs: { invoker: 700 } },
});
// A later attempt waits since its row last changed.
const again = stored.invocation({
  ...given,
  scope: "again",
  isReady: true,
  row: { attempt: 2, heard: 0, modifiedAt: NOW - 500, waitedMs: { invoker: 100 } },
});
// Suspensions: one goes on, one is over, and of the others none is known.
const suspended = { kind: "suspended", awaiting: [] } as never;
stored.invocation({
  scope: "naps",
  status: suspended,
  row: { suspensions: { count: 2, ms: 1000, since: NOW - 500 } },
});
stored.invocation({
  scope: "naps",
  status: { kind: "completed" },
  row: { suspensions: { count: 1, yields: 3, ms: 500 } },
});
stored.invocation({
  scope: "naps",
  status: { kind: "completed" },
  row: { suspensions: { count: 0, yields: 4, ms: 0 } },
});
stored.invocation({ scope: "naps", status: { kind: "completed" } });
const queue = printQueueId({ service: "Greeter", scope: "s", limitKey: undefined });

const { open } = useOneAndThreeFiles(stored);

describe.each(["one file", "three files"])("of %s", (from) => {
  const rows = (sql: string) => rowsOf(open[from]!, sql, stored.running);

  test("the head of a queue waits for a slot, ahead of what waits for limits", async () => {
    expect(
      await rows(
        `select num_inbox, head_entry_id, status, blocked_on, blocked_on_json as json,
        invoker_concurrency_block_duration as waited from sys_scheduler where id = '${queue}'`,
      ),
    ).toEqual([{
      num_inbox: 1,
      head_entry_id: ready,
      status: "blocked",
      blocked_on: "invoker-concurrency",
      json: '{"resource":"invoker-concurrency"}',
      waited: "PT2S",
    }]);
  });

  test("an entry counts its stored waits, and that of its attempt until it is stored", async () => {
    const entries = await rows(
      `select e.entry_id, e.stage, e.status, e.num_attempts as attempts,
        e.latest_attempt_blocked_on_invoker_concurrency as latest,
        e.total_blocked_on_invoker_concurrency as total, i.waited_for_invoker as waited
        from sys_vqueue_entry_status e join sys_invocation i on i.id = e.entry_id
        where i.status in ('running', 'ready')`,
    );
    const runs = { stage: "running", status: "started", attempts: 1 };
    const waits = (latest: string, total: string) => ({ latest, total, waited: total });
    expect(sorted(entries)).toEqual(sorted([
      { entry_id: ran, ...runs, ...waits("PT1.2S", "PT1.2S") },
      { entry_id: ready, stage: "inbox", status: "new", attempts: 0, ...waits("PT2S", "PT2S") },
      { entry_id: counted, ...runs, ...waits("PT0.4S", "PT0.7S") },
      { entry_id: again, ...runs, stage: "inbox", ...waits("PT0.5S", "PT0.6S") },
    ]));
  });

  test("suspensions are counted, and a queue has the average of those that it has", async () => {
    const counts = `select num_suspensions as n, num_yields from sys_vqueues as e
      join sys_vqueue_meta as m on m.id = e.id where m.scope = 'naps'`;
    expect(sorted(await rows(counts)))
      .toEqual(
        sorted([[2, 0], [1, 3], [0, 4], [0, 0]].map(([n, num_yields]) => ({ n, num_yields }))),
      );
    expect(
      await rows("select avg_suspension_duration as a from sys_vqueue_meta where scope = 'naps'"),
    )
      .toEqual([{ a: "PT1S" }]);
  });

  test("a queue has their average, and slots of limits are held meanwhile", async () => {
    const meta = `select avg_blocked_on_invoker_concurrency as avg, num_running, num_inbox
      from sys_vqueue_meta where scope = 's'`;
    expect(await rows(meta)).toEqual([{ avg: "PT1.3S", num_running: 2, num_inbox: 1 }]);
    expect(await rows("select usage from sys_user_limits where scope = 's'"))
      .toEqual([{ usage: 3 }]);
  });
});
