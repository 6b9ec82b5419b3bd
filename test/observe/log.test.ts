import { expect, test, vi } from "vitest";
import { leastLevel, prettyLog } from "../../adapters/platform/log.ts";
import { helpText, options } from "../../src/config.ts";
import { envNames } from "../../src/names.ts";
import { limitedLog } from "../../src/observe/limited_log.ts";

test("a repeated message is logged up to a limit per second, then with the number omitted", () => {
  const records: unknown[] = [];
  let now = 0;
  const log = limitedLog((...record) => records.push(record), () => now);
  for (let i = 0; i < 100; i++) log("warn", "again", { i });
  log("warn", "another");
  expect(records).toHaveLength(21);
  now = 1000;
  log("warn", "again", { i: 100 });
  expect(records.at(-1)).toEqual(["warn", "again", { i: 100, suppressed: 80 }]);
});

test.each(
  [
    ["", "info", "info"],
    ["debug", "info", "debug"],
    ["warn,some::target=trace", "info", "warn"],
    ["some::target=trace", "error", "error"],
    ["off", "info", "error"],
  ] as const,
)("the filter %j over %s means %s", (filter, level, least) => {
  expect(leastLevel(filter, level)).toBe(least);
});

test("a record for people stays on its line", () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    prettyLog("info")("warn", "An attempt failed", {
      code: "RT0010",
      why: "a\nb",
      none: undefined,
    });
    prettyLog("info")("debug", "unseen");
    expect(write.mock.calls).toEqual([
      [expect.stringMatching(/^\S+Z WARN {2}An attempt failed code=RT0010 why="a\\nb"\n$/)],
    ]);
  } finally {
    write.mockRestore();
  }
});

test("the help names every flag with its environment, and its default", () => {
  const help = helpText();
  for (const [path, { env, kind, fallback, isFlag }] of Object.entries(options)) {
    const at = help.indexOf(isFlag ? `  --${path} <value>\n` : `  ${path} (not a flag)\n`);
    expect(at, path).toBeGreaterThan(0);
    const entry = help.slice(at, help.indexOf("\n  -", at + 1) + 1 || undefined);
    for (const name of [envNames(path)[0] ?? "", ...env]) {
      if (name.startsWith(envNames("x")[1]?.slice(0, -1) ?? "-")) continue;
      expect(entry).toContain(name);
    }
    const printed = (kind as { print(value: unknown): string }).print(fallback);
    expect(entry).toContain(`Default: ${printed === "" ? "none" : printed}.`);
  }
});
