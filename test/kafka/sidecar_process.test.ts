import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sidecar } from "../../adapters/server/sidecar.ts";

let folder = "";
const open: Sidecar[] = [];
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "sidecar-"))));
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** Notes each start, and ends on a signal unless it is deaf. */
const PROGRAM = `
import { appendFileSync } from "node:fs";
const [file, kind] = process.argv.slice(2);
const note = (text) => appendFileSync(file, text + "\\n");
if (kind === "deaf") process.on("SIGTERM", () => note("deaf"));
else process.on("SIGTERM", () => (note("stopped"), process.exit(0)));
note("started " + process.pid);
if (kind === "brief") process.exit(3);
setInterval(() => {}, 1000);
`;

/** Time that a test moves. */
class Time {
  ms = 0;
  readonly alarms: { readonly due: number; readonly call: () => void }[] = [];

  now(): number {
    return this.ms;
  }

  after(ms: number, call: () => void): () => void {
    const alarm = { due: this.ms + ms, call };
    this.alarms.push(alarm);
    return () => void this.alarms.splice(this.alarms.indexOf(alarm) >>> 0, 1);
  }

  pass(ms: number): void {
    const until = this.ms + ms;
    for (;;) {
      const next = this.alarms.toSorted((a, b) => a.due - b.due).find(({ due }) => due <= until);
      if (!next) break;
      this.alarms.splice(this.alarms.indexOf(next), 1);
      this.ms = next.due;
      next.call();
    }
    this.ms = until;
  }
}

function world(kind: "steady" | "deaf" | "brief" = "steady") {
  const [program, notes] = [path.join(folder, "program.mjs"), path.join(folder, "notes")];
  writeFileSync(program, PROGRAM);
  writeFileSync(notes, "");
  const seen = { isWanted: true, isServed: false, forbidden: "", logs: [] as string[] };
  const time = new Time();
  const sidecar = new Sidecar({
    command: () => ({ file: process.execPath, args: [program, notes, kind], env: process.env }),
    forbidden: () => seen.forbidden || undefined,
    log: (_, message, { cause = "" } = {}) => void seen.logs.push(`${message} ${cause}`.trim()),
    stopwatch: time,
    isWanted: () => seen.isWanted,
    isServed: () => seen.isServed,
  });
  open.push(sidecar);
  const noted = () => readFileSync(notes, "utf8").split("\n").filter((line) => line !== "");
  const started = () => noted().filter((line) => line.startsWith("started")).length;
  return Object.assign(seen, { sidecar, time, noted, started });
}

const WITHIN = { timeout: 10_000 };

test("it is started when there is a cluster, and stopped with the last one", async () => {
  const one = world();
  one.isWanted = false;
  one.time.pass(10_000);
  expect(one.sidecar.pid).toBeUndefined();
  one.isWanted = true;
  one.sidecar.changed();
  await expect.poll(one.started, WITHIN).toBe(1);
  one.sidecar.changed();
  one.isWanted = false;
  one.sidecar.changed();
  await expect.poll(() => one.noted().at(-1), WITHIN).toBe("stopped");
  one.isWanted = true;
  one.sidecar.changed();
  await expect.poll(one.started, WITHIN).toBe(2);
  expect(one.logs.filter((line) => line.includes("ended"))).toEqual([]);
});

test("one that is at work is left alone, until it is no more", async () => {
  const one = world();
  one.isServed = true;
  one.time.pass(60_000);
  one.sidecar.changed();
  expect(one.sidecar.pid).toBeUndefined();
  one.isServed = false;
  one.time.pass(5_000);
  await expect.poll(one.started, WITHIN).toBe(1);
});

test("that of an earlier process has time to report", () => {
  const one = world();
  one.sidecar.changed();
  one.time.pass(1_499);
  expect(one.sidecar.pid).toBeUndefined();
  one.time.pass(1);
  expect(one.sidecar.pid).toBeDefined();
});

test("one that ends is started again, after growing waits", async () => {
  const one = world("brief");
  one.time.pass(1_500);
  for (const delayMs of [500, 1_000, 2_000]) {
    await expect.poll(() => one.time.alarms.length, WITHIN).toBe(1);
    expect(one.time.alarms[0]?.due).toBe(one.time.ms + delayMs);
    one.time.pass(delayMs);
  }
  await expect.poll(one.started, WITHIN).toBe(4);
  const said = "The Kafka sidecar has ended and is started again exit code 3";
  await expect.poll(() => one.logs.filter((line) => line === said).length, WITHIN).toBe(4);
});

test("one that does not end in time is killed", async () => {
  const one = world("deaf");
  one.time.pass(1_500);
  await expect.poll(one.started, WITHIN).toBe(1);
  const { pid = 0 } = one.sidecar;
  const closed = one.sidecar.close();
  await expect.poll(() => one.noted().at(-1), WITHIN).toBe("deaf");
  expect(() => process.kill(pid, 0)).not.toThrow();
  one.time.pass(5_000);
  await closed;
  expect(() => process.kill(pid, 0)).toThrow();
  one.time.pass(60_000);
  expect(one.started()).toBe(1);
});

test("without the permission it says so once", () => {
  const one = world();
  one.forbidden = "Deno was started without --allow-run=deno";
  one.time.pass(1_500);
  one.sidecar.changed();
  one.sidecar.changed();
  expect(one.logs).toEqual([
    "Cannot start the Kafka sidecar Deno was started without --allow-run=deno",
  ]);
});
