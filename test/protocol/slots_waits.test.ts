import { expect } from "vitest";
import { attach, send } from "./_ask.ts";
import { FLOW_CONTROL, query } from "./_scoped.ts";
import { until } from "../support/child.ts";
import { type Check, protocolSuite, type World } from "./_suite.ts";

/** How long they wait at least. What is shown while they wait began before the commit of their start. */
const WAIT_MS = 300;

/** `PT1.5S` in milliseconds, as both servers write durations. */
function msOf(duration: unknown): number {
  if (duration === "P0D") return 0;
  const [, minutes = "0", seconds = "0"] = /^PT(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(String(duration)) ??
    [];
  return Number(minutes) * 60_000 + Number(seconds) * 1000;
}

async function entryOf({ target }: World, id: string) {
  const [row] = await query(
    target,
    `select vqueue_id, stage, status, num_attempts,
      latest_attempt_blocked_on_invoker_concurrency as latest,
      total_blocked_on_invoker_concurrency as total
      from sys_vqueue_entry_status where entry_id = '${id}'`,
  );
  return row ?? {};
}

const timed: Check = async (world) => {
  const { target, endpoint, named, id } = world;
  const names = ["runs", "waits"].map((word) => `${id}-${word}`);
  const ids: string[] = [];
  for (const name of names) ids.push(await send(target, `${named("Plain")}/hold`, name));
  const [, waiting = ""] = ids;
  await endpoint.happens(`${names[0]} hold`);
  await until("the second one to wait", async () => {
    const { vqueue_id: queue } = await entryOf(world, waiting);
    const [head] = await query(target, `select * from sys_scheduler where id = '${queue}'`);
    return msOf(head?.["invoker_concurrency_block_duration"]) > 3 * WAIT_MS &&
      head?.["head_entry_id"] === waiting && head["status"] === "blocked" &&
      head["blocked_on"] === "invoker-concurrency" && head["num_inbox"] === 1 &&
      head["blocked_on_json"] === '{"resource":"invoker-concurrency"}';
  });
  expect(await entryOf(world, waiting)).toMatchObject({ stage: "inbox", status: "new" });
  for (const name of names) endpoint.release(name);
  for (const one of ids) await attach(target, one);
  const entries = await Promise.all(ids.map((one) => entryOf(world, one)));
  expect(entries.map(({ total }) => msOf(total) > WAIT_MS)).toEqual([false, true]);
  const [meta] = await query(
    target,
    `select avg_blocked_on_invoker_concurrency as avg from sys_vqueue_meta
      where id = '${entries[1]?.["vqueue_id"]}'`,
  );
  expect(msOf(meta?.["avg"])).toBeGreaterThan(WAIT_MS / ids.length);
  await counted(world);
};

/** `Sleepy` suspends after a tenth of a second, or at once. */
const suspended: Check = async ({ target, named, id, transport }) => {
  const one = await send(target, `${named("Sleepy")}/nap`, { id, ms: 4 * WAIT_MS });
  await attach(target, one);
  const shown = `select vqueue_id, num_suspensions, num_yields from sys_vqueue_entry_status
    where entry_id = '${one}'`;
  const [entry] = await query(target, shown);
  // Without a stream both ways an SDK asks to be suspended for the result of each step.
  const yields = transport === "h1" ? 2 : 0;
  expect(entry).toMatchObject({ num_suspensions: 1, num_yields: yields });
  const [meta] = await query(
    target,
    `select avg_suspension_duration as avg from sys_vqueue_meta where id = '${
      entry?.["vqueue_id"]
    }'`,
  );
  expect(msOf(meta?.["avg"])).toBeGreaterThan(WAIT_MS);
};

/** Only ours has it among its metrics. */
async function counted({ target, named }: World): Promise<void> {
  if (target.kind !== "perdure") return;
  const page = await (await fetch(`${target.admin}/metrics`)).text();
  const sample = page.split("\n").find((line) =>
    line.startsWith("perdure_invocation_waited_seconds_total{") &&
    line.includes(`service="${named("Plain")}"`) && line.includes('cause="invoker"')
  );
  expect(Number(sample?.split(" ").at(-1))).toBeGreaterThan(WAIT_MS / 1000);
}

protocolSuite("waits for slots", {
  "69f how long an attempt waited for a slot is shown, while it waits and later": timed,
  "69g suspensions are counted, and timed": suspended,
}, {
  options: { ...FLOW_CONTROL, "worker.invoker.concurrent-invocations-limit": "1" },
  isSequential: true,
});
