import { readFileSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { jsonLog } from "../../adapters/platform/log.ts";
import { clock } from "../../adapters/platform/clock.ts";
import { random } from "../../adapters/platform/random.ts";
import { VERSION } from "../../adapters/platform/version.ts";
import { IsolateClock } from "../../adapters/workerd/platform.ts";
import { CLOCK_LOOK_MS } from "../../src/ports.ts";

afterEach(() => void vi.restoreAllMocks());

test("the version is the one of the package", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(VERSION).toBe(version);
});

test("a timer never fires early and fires once", async () => {
  const pending: number[] = [];
  const dues = Array.from({ length: 200 }, (_, i) => Date.now() + i);
  await Promise.all(
    dues.map((due) =>
      new Promise<void>((resolve) =>
        clock.at(due, () => {
          pending.push(Date.now() - due);
          resolve();
        })
      )
    ),
  );
  expect(Math.min(...pending)).toBeGreaterThanOrEqual(0);
  expect(pending).toHaveLength(200);
});

test("a timer that is forgotten, due in the past, or due in a thousand years", async () => {
  const fired: string[] = [];
  clock.at(Date.now() + 10, () => fired.push("forgotten"))();
  const forget = clock.at(Date.now() + 1000 * 365 * 86_400_000, () => fired.push("far"));
  clock.at(0, () => fired.push("past"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  forget();
  expect(fired).toEqual(["past"]);
});

test(
  "a clock that was set back and then forward is noticed by every runtime within 5 s",
  async () => {
    const hour = 3_600_000, began = Date.now();
    const isolate = new IsolateClock((cause) => expect.unreachable(String(cause)));
    const fired: string[] = [];
    clock.at(began + hour, () => fired.push("process"));
    isolate.at(began + hour, () => fired.push("isolate"));
    vi.spyOn(Date, "now").mockReturnValue(began + 2 * hour);
    // Twice as long as it should take, for a machine that has other things to do.
    await vi.waitFor(() => expect(fired).toHaveLength(2), { timeout: 2 * CLOCK_LOOK_MS });
    expect(CLOCK_LOOK_MS).toBeLessThan(5_000);
  },
  30_000,
);

test("random bytes differ and do not share memory", () => {
  const drawn = Array.from({ length: 2000 }, () => random(16));
  expect(new Set(drawn.map(String)).size).toBe(2000);
  expect(random(10_000)).toHaveLength(10_000);
  drawn[0]?.fill(0);
  expect(drawn[1]?.some((byte) => byte !== 0)).toBe(true);
});

test("the log writes one JSON object a line and drops lesser records", () => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  const log = jsonLog("info");
  log("debug", "dropped");
  log("warn", "kept\nwhole", { n: 1 });
  expect(lines).toHaveLength(1);
  expect(lines[0]?.split("\n")).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warn", message: "kept\nwhole", n: 1 });
});
