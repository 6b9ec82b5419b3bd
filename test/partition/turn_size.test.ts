import { expect, test, vi } from "vitest";
import { clock } from "../../adapters/platform/clock.ts";
import type { Effect } from "../../src/engine/effect.ts";
import { ONLY_PARTITION } from "../../src/model/ring.ts";
import { Meter } from "../../src/observe/meter.ts";
import { Partition } from "../../src/partition/partition.ts";
import { MemoryStore } from "../../src/storage/memory_store.ts";
import { schema } from "../support/schema.ts";
import { invoked } from "./_invoked.ts";

test("frames fill a turn, so that an attempt with many does not delay later events", async () => {
  const store = new MemoryStore();
  const released: Effect[] = [];
  const partition = new Partition({
    lease: await store.claim(0),
    range: ONLY_PARTITION,
    clock,
    store,
    schema: () => schema,
    onFailure: (cause) => expect.unreachable(String(cause)),
    onRefused: (_, cause) => expect.unreachable(String(cause)),
    release: (effects) => void released.push(...effects),
    turnEventsMax: 4,
    releaseEffectsMax: 32,
    residentBytesMax: 1e6,
    meter: new Meter(),
  });
  partition.open();
  const events = [1, 2, 3].map(invoked);
  for (const event of events) partition.send(event);
  await vi.waitFor(() => expect(released.length).toBe(3));
  const before = partition.turns;
  for (const { id } of events) {
    const frames = Array.from({ length: 4 }, (_, i) => ({
      kind: "run" as const,
      bytes: new Uint8Array(0),
      completion: i + 1,
    }));
    const pin = { deployment: "dp_1", protocol: 6 };
    const entropy = new Uint8Array(16);
    partition.send({ type: "framesReceived", id, attempt: 1, first: 0, frames, pin, entropy });
  }
  let turnsOfLast = 0;
  partition.send(invoked(), () => turnsOfLast = partition.turns - before);
  await vi.waitFor(() => expect(turnsOfLast).toBeGreaterThan(0));
  expect(partition.turns - before).toBe(4);
  partition.stop();
});
