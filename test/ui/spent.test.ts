import { describe, expect, test } from "vitest";
import { type Spent, spentOf, spentTexts } from "../../src/ui/pages/invocation/spent.ts";
import { type EntryRow, stepsOf } from "../../src/ui/pages/invocation/steps.ts";
import type { Whole } from "../../src/ui/pages/invocation/data.ts";
import { idOf } from "../conformance/_world.ts";
import { until } from "../support/child.ts";
import { operate, query, send } from "../support/client.ts";
import { hasBrowser } from "./_browser.ts";
import { isReference } from "./_seeded.ts";
import { expectSound, SHOWN_MS } from "./_tab.ts";
import { useUi } from "./_ui.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const timeOf = (ms: number) => new Date(START_MS + ms).toISOString();

type Written = readonly [at: number, entry: unknown];
const command = (at: number, type: string, fields: unknown = {}): Written => [
  at,
  { Command: { [type]: fields } },
];
const done = (at: number, id: number): Written => [
  at,
  { Notification: { ty: { Completion: "X" }, id: { CompletionId: id }, result: "Success" } },
];
const signal = (at: number): Written => [
  at,
  { Notification: { ty: "Signal", id: { SignalIndex: 17 }, result: "Success" } },
];

/** What an invocation that started at 100 ms has spent its time with: busy, awaited, retried. */
function spent(
  journal: readonly Written[],
  { end, status = "completed", failures = [] }: {
    readonly end: number;
    readonly status?: string;
    readonly failures?: readonly number[];
  },
): readonly number[] | undefined {
  const entries = journal.map(([at, lite], index): EntryRow => ({
    ...{ index, entry_type: "X", appended_at: timeOf(at) },
    entry_lite_json: JSON.stringify(lite),
  }));
  const row = {
    ...{ running_at: timeOf(100), status },
    ...(status === "completed" && { completed_at: timeOf(end) }),
  };
  const events = failures.toReversed().map((at) => ({ appended_at: timeOf(at) }));
  const found = spentOf(row, stepsOf(entries), { events, now: START_MS + end });
  return found && valuesOf(found);
}

const valuesOf = ({ busyMs, awaitedMs, retriedMs }: Spent) => [busyMs, awaitedMs, retriedMs];

describe("the time of an invocation", () => {
  test("is spent on steps and the handler, and on waiting for what was asked for", () => {
    const journal = [
      command(0, "Input"),
      command(110, "Run", { completion_id: 1 }),
      done(150, 1),
      command(160, "Sleep", { completion_id: 2 }),
      done(1_160, 2),
      command(1_170, "Call", { result_completion_id: 3 }),
      done(1_470, 3),
      command(1_475, "Output", { result: "Success" }),
    ];
    expect(spent(journal, { end: 1_480 })).toEqual([80, 1_300, 0]);
  });

  test("is busy while a step runs, whatever is awaited beside it", () => {
    const journal = [
      command(0, "Input"),
      command(100, "Call", { result_completion_id: 1 }),
      command(110, "Run", { completion_id: 2 }),
      done(200, 1),
      done(400, 2),
      command(410, "Output", { result: "Success" }),
    ];
    expect(spent(journal, { end: 410 })).toEqual([310, 0, 0]);
  });

  test("goes on until now: as it stands, and as its last entry leaves it", () => {
    const nap = [command(0, "Input"), command(150, "Sleep", { completion_id: 1 })];
    expect(spent(nap, { end: 1_000, status: "suspended" })).toEqual([50, 850, 0]);
    expect(spent(nap, { end: 1_000, status: "running" })).toEqual([50, 850, 0]);
    const runs = [command(0, "Input"), command(150, "Run", { completion_id: 1 })];
    expect(spent(runs, { end: 1_000, status: "running" })).toEqual([900, 0, 0]);
    // An awakeable has no entry before it is completed.
    const awakeable = [command(0, "Input"), command(150, "SetState", { key: "a" })];
    expect(spent(awakeable, { end: 1_000, status: "suspended" })).toEqual([50, 850, 0]);
    expect(spent([...awakeable, signal(700), command(710, "Output")], { end: 710 }))
      .toEqual([60, 550, 0]);
  });

  test("between a failure and the next entry is not told apart", () => {
    const journal = [
      command(0, "Input"),
      command(120, "Run", { completion_id: 1 }),
      done(900, 1),
      command(910, "Output", { result: "Success" }),
    ];
    expect(spent(journal, { end: 910, failures: [200, 600] })).toEqual([110, 0, 700]);
    // A step that fails at once does so in the millisecond in which it was written.
    expect(spent(journal, { end: 910, failures: [120] })).toEqual([30, 0, 780]);
    const open = journal.slice(0, 2);
    expect(spent(open, { end: 5_000, status: "backing-off", failures: [300] }))
      .toEqual([200, 0, 4_700]);
    expect(spent(open, { end: 5_000, status: "paused", failures: [300, 400] }))
      .toEqual([200, 0, 4_700]);
  });

  test("adds up to all of it, also where clocks have stepped back", () => {
    const journal = [
      command(500, "Input"),
      command(90, "Run", { completion_id: 1 }),
      done(50, 1),
      command(700, "Output", { result: "Success" }),
    ];
    const parts = spent(journal, { end: 650 });
    expect(parts).toEqual([600, 0, 0]);
  });

  test("is not known without a journal, and nothing before it starts", () => {
    const row = { status: "completed", running_at: timeOf(0), completed_at: timeOf(9) } as Whole;
    const known = { events: [], now: START_MS };
    expect(spentTexts(row, [], known)).toEqual([["Busy", "not known: there is no journal"]]);
    expect(spentTexts({ ...row, num_suspensions: 2 }, [], known).at(-1))
      .toEqual(["Suspended", "2 times"]);
    expect(spentTexts({ status: "pending" } as Whole, [], known)).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("the page of an invocation", () => {
  const ui = useUi();

  test("says how long it was busy and waited, and how often it was suspended", async () => {
    const id = idOf(await send(ui.server, "Greeter/nap", { id: "spent", ms: 1_500 }));
    const stands = `SELECT id FROM sys_invocation WHERE id = '${id}' AND status = `;
    await until(
      "the nap to end",
      async () => (await query(ui.server, `${stands} 'completed'`)).length === 1,
    );
    const tab = await ui.open(`invocations/${id}`);
    const { page } = tab;
    const fact = (name: string) =>
      page.locator(".wide-facts > div").filter({ has: page.getByText(name, { exact: true }) })
        .locator("dd");
    await expect.poll(() => fact("Awaited results").innerText(), { timeout: SHOWN_MS })
      .toMatch(/^1\.[45] s$/);
    await fact("Busy").filter({ hasText: /^\d+ ms$|^\d\.\d s$/ }).waitFor();
    await fact("Retried or paused").waitFor({ state: "detached" });
    if (!isReference) await fact("Suspended").filter({ hasText: /^once$/ }).waitFor();
    await expectSound(tab);
    await operate(ui.server, "purge-journal", id);
    await page.reload();
    await fact("Busy").getByText("not known: there is no journal").waitFor();
    expect(tab.wrong).toEqual([]);
    await tab.close();
  });

  test("counts a wait that is not over until now", async () => {
    const id = idOf(await send(ui.server, "Greeter/nap", { id: "waits", ms: 3_600_000 }));
    await ui.endpoint.happens("waits asleep");
    const tab = await ui.open(`invocations/${id}?tab=errors`);
    const awaited = tab.page.locator(".wide-facts > div").filter({ hasText: "Awaited results" });
    await awaited.waitFor();
    const first = await awaited.innerText();
    await expect.poll(() => awaited.innerText(), { timeout: SHOWN_MS }).not.toBe(first);
    expect(tab.wrong).toEqual([]);
    await operate(ui.server, "kill", id);
    await tab.close();
  });
});
