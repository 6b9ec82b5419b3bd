import fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../src/engine/event.ts";
import { TABLES } from "../../src/model/rows.ts";
import type { Disk } from "../sim/disk.ts";
import { Bench } from "./_bench.ts";
import { histories } from "./_events.ts";

/** Every row, without its time of modification. */
function rows(disk: Disk): unknown[] {
  return TABLES.flatMap((table) =>
    disk.all(table).map((row) =>
      "modifiedAt" in row ? { table, ...row, modifiedAt: 0 } : { table, ...row }
    )
  );
}

/** Events that are no duplicates when they are applied twice: each has another source. */
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

test("an event applied twice leaves the same rows as once", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const bench = new Bench(1e9);
      let now = 1_000;
      for (const [ms, happening] of history) {
        now += ms;
        const event: Event = happening(bench.view(now));
        bench.run(event, now);
        // No row of it is kept, so a repeat cannot be recognized.
        if (RENEWED.includes(event.type) || !("id" in event)) continue;
        if (bench.disk.find("invocation", event.id) === undefined) continue;
        const once = rows(bench.disk);
        const { effects } = bench.run(event, now);
        expect(rows(bench.disk)).toEqual(once);
        // A repeated request gets a reply again; of other effects only alarms are emitted twice.
        expect(effects.filter(({ type }) => type !== "reply" && type !== "armTimer")).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);
