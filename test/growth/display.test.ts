import { describe, expect, test } from "vitest";
import { Display } from "../../adapters/tools/display.ts";

/** What a display writes to an output, with a clock that is moved by hand. */
function watched(output: { readonly isTTY?: boolean; readonly columns?: number }) {
  const written: string[] = [];
  let now = 1_000;
  const write = (text: string) => void written.push(text);
  const display = new Display("export", { ...output, write }, () => now);
  return { display, written, wait: (ms: number) => void (now += ms) };
}

describe("on a terminal", () => {
  test("one line is written again, with rows, bytes, rate and the time left", () => {
    const { display, written, wait } = watched({ isTTY: true, columns: 120 });
    const { progress } = display.begin("Exporting", { rows: 100_000 });
    progress({ what: "state" });
    wait(60);
    progress({ rows: 1_000, bytes: 1_000 });
    wait(1_940);
    progress({ what: "journal", rows: 9_000, bytes: 3_000_000 });
    expect(written).toEqual([
      "\r\x1b[2Kexport: Exporting state: 0 of 100,000 rows, 0 B, 0 rows/s",
      "\r\x1b[2Kexport: Exporting journal: 10,000 of 100,000 rows, 2.9 MiB, 5,000 rows/s, 18s left",
    ]);
  });

  test("it is no longer than the terminal is wide", () => {
    for (const [columns, length] of [[20, 19], [0, 79]] as const) {
      const { display, written } = watched({ isTTY: true, columns });
      display.begin("Exporting").progress({ what: "x".repeat(200) });
      expect(written[0]?.replace("\r\x1b[2K", "")).toHaveLength(length);
    }
  });

  test("it is erased before a line that stays, and before what others write", () => {
    const { display, written, wait } = watched({ isTTY: true });
    const work = display.begin("Exporting");
    work.progress({ rows: 1, bytes: 5 });
    display.clear();
    display.clear();
    wait(500);
    work.progress({ rows: 1, bytes: 5 });
    work.end();
    display.say("Exported to x");
    expect(written).toEqual([
      "\r\x1b[2Kexport: Exporting: 1 rows, 5 B, 1,000 rows/s",
      "\r\x1b[2K",
      "\r\x1b[2Kexport: Exporting: 2 rows, 10 B, 4 rows/s",
      "\r\x1b[2K",
      "export: Exporting: 2 rows, 10 B in 500ms, 4 rows/s\n",
      "export: Exported to x\n",
    ]);
  });
});

describe("in a pipe", () => {
  test("there is a plain line every five seconds, and one at the end", () => {
    const { display, written, wait } = watched({});
    const work = display.begin("Importing", { bytes: 4 * 1024 ** 3 });
    for (let second = 1; second <= 12; second++) {
      wait(1_000);
      work.progress({ what: "state", rows: 1_000, bytes: 10 * 1024 ** 2 });
    }
    work.end();
    expect(written).toEqual([
      "export: Importing state: 5,000 rows, 50.0 MiB of 4.0 GiB, 1,000 rows/s, 6m 45s left\n",
      "export: Importing state: 10,000 rows, 100.0 MiB of 4.0 GiB, 1,000 rows/s, 6m 40s left\n",
      "export: Importing: 12,000 rows, 120.0 MiB in 12s, 1,000 rows/s\n",
    ]);
  });

  test("more than there was at the beginning leaves no time, and nothing done tells none", () => {
    const { display, written, wait } = watched({});
    const { progress } = display.begin("Copying", { rows: 1 });
    wait(5_000);
    progress({ what: "state" });
    wait(5_000);
    progress({ rows: 2, bytes: 1 });
    expect(written).toEqual([
      "export: Copying state: 0 of 1 rows, 0 B, 0 rows/s\n",
      "export: Copying state: 2 of 1 rows, 1 B, 0 rows/s, 0s left\n",
    ]);
  });
});
