import { expect, test } from "vitest";
import { dump } from "../../src/config/describe.ts";
import { byteSize, flag, text, texts } from "../../src/config/kinds.ts";
import { option } from "../../src/config/option.ts";
import { readEnvironment, resolveSettings } from "../../src/config/read.ts";

test.each([
  ["1KB", 1_000],
  ["1KiB", 1_024],
  ["1.5 gib", 1.5 * 2 ** 30],
  ["32MiB", 32 * 2 ** 20],
  ["7", 7],
  ["7b", 7],
  ["", undefined],
  ["1.0001KB", undefined],
  ["9999999999GiB", undefined],
])("a size of %s is %s bytes", (typed, bytes) => {
  expect(byteSize().read(typed)).toBe(bytes);
});

test("a size prints in the largest unit that divides it", () => {
  expect([1, 1_000, 1_024, 3 * 2 ** 20, 2 ** 30 + 1].map(byteSize().print)).toEqual(
    ["1", "1000", "1KiB", "3MiB", "1073741825"],
  );
});

test("a flag is true or false, as a word or as itself", () => {
  expect(["true", " false ", true, "yes", 1, ""].map(flag().read)).toEqual(
    [true, false, true, undefined, undefined, undefined],
  );
});

test("a list of texts is spelled as in a file", () => {
  expect(texts().read(`["x-route", 'b']`)).toEqual(["x-route", "b"]);
  expect(texts().read(["a"])).toEqual(["a"]);
  expect(texts().read("a, b")).toBeUndefined();
  expect(texts().read(`["a"] b`)).toBeUndefined();
  expect(texts().print(["a", `"b"`])).toBe(`["a", "\\"b\\""]`);
});

test("a secret is printed nowhere", () => {
  const secret = option(text(), "unset", { doc: "A token.", secret: true });
  const open = option(flag(), "true", { doc: "A switch." });
  const options = { "storage.token": secret, "storage.on": open };
  const printed = dump(options, { "storage.token": "hunter2", "storage.on": true });
  expect(printed).toBe("\n[storage]\n# token = (hidden)\non = true\n");

  const number = option(
    { ...text(), read: (given) => given === "unset" ? given : undefined },
    "unset",
    {
      doc: "A token that is never right.",
      secret: true,
    },
  );
  const source = readEnvironment({ token: number }, { SVC_TOKEN: "hunter2" });
  expect(() => resolveSettings({ token: number }, [source])).toThrow(
    "[RT0002] Cannot read SVC_TOKEN: the value is not a text of at least one character",
  );
});
