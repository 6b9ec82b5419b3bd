import { describe, expect, test } from "vitest";
import { helpText } from "../../src/config.ts";
import {
  checkTool,
  readTool,
  toolHelp,
  type ToolName,
  TOOLS,
} from "../../src/config/tool_flags.ts";

const names = Object.keys(TOOLS) as ToolName[];

test("a command line without a tool is that of the server", () => {
  for (const args of [[], ["--base-dir", "export"], ["exports"], ["constructor"], ["--help"]]) {
    expect(readTool(args)).toBeUndefined();
  }
});

test("the flags of a tool are its own, the others are settings", () => {
  const args = ["reshard", "--base-dir", "a", "--to-partitions", "3", "--to=b=c", "--help"];
  expect(readTool([...args, "--to-databases=each"])).toEqual({
    name: "reshard",
    values: { "to-partitions": 3, "to": "b=c", "to-databases": "each" },
    args: ["--base-dir", "a", "--help"],
  });
  expect(readTool(["export", "--to", "-"])).toEqual({
    name: "export",
    values: { to: "-" },
    args: [],
  });
  expect(readTool(["import", "--to", "x"])?.args).toEqual(["--to", "x"]);
});

describe("what a tool cannot read is refused with what is allowed", () => {
  test.each([
    [["reshard", "--to-partitions", "0"], `"0" is not a whole number from 1 to 64`],
    [["reshard", "--to-partitions=65"], `"65" is not a whole number from 1 to 64`],
    [["reshard", "--to-databases", "two"], `"two" is not one of "one", "each"`],
    [["backup", "--to"], "<folder> must follow"],
    [["backup", "--to", "--base-dir", "x"], "<folder> must follow"],
  ])("%j", (args, told) => {
    expect(() => readTool(args)).toThrow(expect.objectContaining({ code: "RT0002" }));
    expect(() => readTool(args)).toThrow(told);
  });

  test("and so is what is missing", () => {
    const check = (...args: string[]) => () => checkTool(readTool(args)!);
    expect(check("reshard")).toThrow(`Cannot reshard: "--to-partitions <count>" is missing`);
    expect(check("backup")).toThrow(`"--to <folder>" is missing`);
    expect(check("export")).not.toThrow();
    expect(check("import")).not.toThrow();
  });
});

test("help names every tool and every flag", () => {
  for (const name of names) {
    expect(helpText()).toContain(`  ${name}\n      ${TOOLS[name].doc}`);
    for (const flag of Object.keys(TOOLS[name].flags)) {
      expect(toolHelp(name)).toContain(`--${flag} `);
    }
  }
});
