import { expect, test } from "vitest";
import { PartitionReadiness } from "../../src/partition/readiness.ts";
import { Fenced, type LogLevel } from "../../src/ports.ts";
import { World } from "../sim/world.ts";

/** The readiness of partition 3 in virtual time, with what it logs. */
function readiness() {
  const world = new World(1), logged: [LogLevel, string][] = [];
  const clock = {
    now: () => world.mono,
    at: (due: number, call: () => void) => world.after(due - world.mono, call),
    soon: (call: () => void) => void world.after(0, call),
  };
  const log = (level: LogLevel, message: string) => void logged.push([level, message]);
  const one = new PartitionReadiness({ clock, log }, 3);
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isDone = false;
    void promise.then(() => isDone = true);
    await world.run(() => isDone, { alarmsMax: 100, until: world.mono + 10_000 });
    return await promise;
  };
  return { world, one, logged, settled };
}

const fails = (code: string) => () => Promise.reject(Object.assign(new Error("/a/path"), { code }));

test("a partition that was not opened yet says so", async () => {
  const { one, world } = readiness();
  const known = { partition: 3, cause: "the partition is being opened", since: world.mono };
  expect(await one.check(undefined)).toEqual(known);
  one.over();
  expect(await one.check(undefined)).toBeUndefined();
});

test("it has the latest cause, the time of the first, and no text of the database", () => {
  const { one, world } = readiness();
  one.over();
  one.failed(Object.assign(new Error("/a/path"), { code: "SQLITE_FULL" }));
  const since = world.mono;
  expect(one.known).toEqual({ partition: 3, cause: "the database reports SQLITE_FULL", since });
  world.mono += 1_000;
  one.failed(new Fenced());
  expect(one.known).toMatchObject({ cause: expect.stringContaining("another process"), since });
  one.failed(new Error("/a/path"));
  expect(one.known?.cause).not.toContain("path");
});

test("a check reads, and failures are logged once until it succeeds", async () => {
  const { one, logged, settled } = readiness();
  one.over();
  expect(await settled(one.check(() => Promise.resolve()))).toBeUndefined();
  for (let n = 0; n < 3; n++) {
    const found = await settled(one.check(fails("SQLITE_IOERR")));
    expect(found?.cause).toContain("SQLITE_IOERR");
  }
  expect(logged.map(([level]) => level)).toEqual(["warn"]);
  expect(await settled(one.check(() => Promise.resolve()))).toBeUndefined();
  expect(logged.map(([level]) => level)).toEqual(["warn", "info"]);
});

test("checks of a database that does not answer share one read, and wait briefly", async () => {
  const { one, settled } = readiness();
  one.over();
  let reads = 0, answer = (): void => {};
  const read = () => {
    reads++;
    return new Promise<void>((resolve) => answer = resolve);
  };
  const checks = [one.check(read), one.check(read)];
  for (const check of checks) {
    expect((await settled(check))?.cause).toContain("does not answer within 2 s");
  }
  expect(reads).toBe(1);
  answer();
  expect(await settled(one.check(() => Promise.resolve()))).toBeUndefined();
});
