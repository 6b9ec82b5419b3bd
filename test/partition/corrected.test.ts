import { expect, test } from "vitest";
import { partitionOfCounter } from "../../src/model/ring.ts";
import { Schema } from "../../src/model/schema.ts";
import type { Log } from "../../src/ports.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { until } from "../support/child.ts";
import { controlsOf } from "../support/controls.ts";
import { deployment, schema } from "../support/schema.ts";
import { hostWith } from "./_host.ts";

const PARTITIONS = 2;
const COUNTER = "service:greeter";
const home = partitionOfCounter(COUNTER, PARTITIONS);
const limited = new Schema(
  [deployment],
  schema.defaults,
  controlsOf({ services: { greeter: { limits: { concurrency: 2 } } } }),
);

/** Its bank has given slots to its own partition, which has none. */
async function damagedStore(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const bank = { counter: COUNTER, given: { [home]: 1 }, waiting: [], told: [] };
  await store.commit(await store.claim(home), [{ table: "bank", row: bank, drop: false }]);
  return store;
}

/** What a host of that store logs until `isOver`. */
async function logged(store: MemoryStore, isOver: (codes: unknown[]) => boolean) {
  const codes: unknown[] = [];
  const log: Log = (_, message, { code } = {}) => void codes.push(code ?? message);
  const range = { partition: home, partitions: PARTITIONS };
  const host = hostWith({ store, range, log, schema: () => limited });
  await host.open();
  await until("the log", () => isOver(codes));
  host.close();
  return codes;
}

test("a bank that disagrees with its share is reported once its correction is durable", async () => {
  const codes = await logged(await damagedStore(), (codes) => codes.length > 0);
  expect(codes).toEqual(["RT0028"]);
});

// Rows that it had read and rows of the new owner do not belong together.
test("a host that has lost its lease reports no bank", async () => {
  const store = await damagedStore();
  const { commit } = store;
  let isLost = false;
  store.commit = async (lease, writes) => {
    if (!isLost && writes.some(({ table }) => table === "bank")) {
      isLost = true;
      await store.claim(home);
    }
    return await commit.call(store, lease, writes);
  };
  const codes = await logged(store, () => isLost);
  expect(codes).not.toContain("RT0028");
});
