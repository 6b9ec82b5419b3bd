import { expect, test } from "vitest";
import { Sweeper } from "../../src/partition/sweeper.ts";
import { World } from "../sim/world.ts";

const EVERY_MS = 60_000;
const COMMIT_MS = 5;

interface Scene {
  readonly world: World;
  /** Expired invocations that the store still has. */
  readonly left: Set<string>;
  /** When pages were read, and how many rows each of them had. */
  readonly pages: { readonly at: number; readonly rows: number }[];
  readonly records: string[];
  readonly sweeper: Sweeper;
}

/** A sweeper under virtual time, over so many expired rows. `broken`: pages that fail first. */
function scene(expired: number, broken = 0): Scene {
  const world = new World(1), start = world.mono;
  const left = new Set(Array.from({ length: expired }, (_, n) => `i${n}`));
  const pages: { at: number; rows: number }[] = [], records: string[] = [];
  let failing = broken;
  const sweeper = new Sweeper({
    clock: {
      now: () => world.mono,
      at: (due, call) => world.after(due - world.mono, call),
      soon: (call) => void world.after(0, call),
    },
    log: (level, message) => void records.push(`${level} ${message}`),
    everyMs: EVERY_MS,
    expired: async (_until, limit) => {
      const page = [...left].slice(0, limit).map((id) => ({ type: "expired" as const, id }));
      pages.push({ at: world.mono - start, rows: page.length });
      if (failing-- > 0) throw new Error("the database is busy");
      return page;
    },
    // Deleted once the commit is durable, which takes some time.
    send: (event, durable) =>
      void world.after(COMMIT_MS, () => {
        if (event.type === "expired") left.delete(event.id);
        durable?.();
      }),
  });
  return { world, left, pages, records, sweeper };
}

const run = ({ world }: Scene, forMs: number) =>
  world.run(() => false, { alarmsMax: 10_000, until: world.mono + forMs });

test("450 expired invocations are all deleted without waiting an interval", async () => {
  const swept = scene(450);
  swept.sweeper.start();
  await run(swept, EVERY_MS - 1);
  expect(swept.left.size).toBe(0);
  // A page is read once the one before is durable: no row is in two pages.
  expect(swept.pages).toEqual([
    { at: 0, rows: 200 },
    { at: COMMIT_MS, rows: 200 },
    { at: 2 * COMMIT_MS, rows: 50 },
  ]);
});

test("once all are deleted, the store is read once per interval", async () => {
  const swept = scene(0);
  swept.sweeper.start();
  await run(swept, 3 * EVERY_MS);
  expect(swept.pages.map(({ at }) => at)).toEqual([0, 1, 2, 3].map((n) => n * EVERY_MS));
});

test("a page that cannot be read is logged, and read again an interval later", async () => {
  const swept = scene(3, 1);
  swept.sweeper.start();
  await run(swept, EVERY_MS + COMMIT_MS);
  expect(swept.records).toEqual(["warn Looking for expired rows failed"]);
  expect(swept.pages.map(({ at }) => at)).toEqual([0, EVERY_MS]);
  expect(swept.left.size).toBe(0);
});

test("a sweeper that is stopped reads no more pages", async () => {
  const swept = scene(450);
  swept.sweeper.start();
  await run(swept, 0);
  swept.sweeper.stop();
  await run(swept, 10 * EVERY_MS);
  expect(swept.pages).toHaveLength(1);
});

test("an event that no turn can take does not end the sweeping", async () => {
  const world = new World(1);
  let pages = 0;
  const damaged = { type: "expired" as const, id: "damaged" };
  const sweeper = new Sweeper({
    clock: {
      now: () => world.mono,
      at: (due, call) => world.after(due - world.mono, call),
      soon: (call) => void world.after(0, call),
    },
    log: () => {},
    everyMs: EVERY_MS,
    expired: () => {
      pages++;
      return Promise.resolve([damaged]);
    },
    send: (event) => void world.after(COMMIT_MS, () => sweeper.refused(event)),
  });
  sweeper.start();
  await world.run(() => pages === 3, { alarmsMax: 1_000, until: world.mono + 10 * EVERY_MS });
  expect(pages).toBe(3);
  sweeper.stop();
});
