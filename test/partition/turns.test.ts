import fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { TABLES } from "../../src/model/rows.ts";
import type { Disk } from "../sim/disk.ts";
import { Bench } from "./_bench.ts";
import { histories } from "./_events.ts";

/** Every row, but for when it was last written. */
function rows(disk: Disk): unknown[] {
  return TABLES.flatMap((table) =>
    disk.all(table).map((row) =>
      "modifiedAt" in row ? { table, ...row, modifiedAt: 0 } : { table, ...row }
    )
  );
}

/** What is not a repeat when it comes twice: each time it is somebody else who says so. */
const RENEWED = ["recovered", "slotFree", "signaled", "operated"];

test("a cold memory and a hot one give the same turns for the same events", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const hot = new Bench(1e9), warm = new Bench(3_000), cold = new Bench(0);
      let now = 1_000;
      for (const [ms, happening] of history) {
        now += ms;
        const event = happening(hot.view(now));
        const done = hot.run(event, now);
        expect(cold.run(event, now)).toEqual(done);
        expect(warm.run(event, now)).toEqual(done);
      }
      expect(rows(cold.disk)).toEqual(rows(hot.disk));
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("an event applied twice leaves what once left", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const bench = new Bench(1e9);
      let now = 1_000;
      for (const [ms, happening] of history) {
        now += ms;
        const event: Event = happening(bench.view(now));
        bench.run(event, now);
        // Nothing is kept of it, so nobody can know that it was there before.
        if (RENEWED.includes(event.type) || !("id" in event)) continue;
        if (bench.disk.find("invocation", event.id) === undefined) continue;
        const once = rows(bench.disk);
        const { effects } = bench.run(event, now);
        expect(rows(bench.disk)).toEqual(once);
        // A repeated request is answered again; nothing else is told twice but a clock's alarm.
        expect(effects.filter(({ type }) => type !== "reply" && type !== "armTimer")).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);
