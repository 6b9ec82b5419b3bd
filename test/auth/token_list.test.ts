import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { BadTokenList, digestOf, parseTokenList } from "../../src/auth/token_list.ts";

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");

test("a line is a name, the SHA-256 of a token, and roles", async () => {
  const list = parseTokenList(
    `# tokens of the shop\n\nci   ${sha256("one")}  operator invoke:Greeter/*\r\n` +
      `  grafana\t${sha256("two").toUpperCase()}\tviewer  \n# ci ${sha256("three")} admin\n`,
  );
  expect(list.size).toBe(2);
  expect(list.get(await digestOf("one"))).toMatchObject({ name: "ci", level: "operator" });
  expect(list.get(await digestOf("two"))).toMatchObject({ name: "grafana", level: "viewer" });
  expect(parseTokenList("").size).toBe(0);
});

test("a name may have two tokens, so that one can take the place of the other", () => {
  const list = parseTokenList(`ci ${sha256("old")} viewer\nci ${sha256("new")} viewer`);
  expect([...list.values()].map(({ name }) => name)).toEqual(["ci", "ci"]);
});

test.each([
  ["ci secret-token admin", /^line 1: .*SHA-256/],
  ["ci", /^line 1: .*SHA-256/],
  [`\nci ${sha256("a").slice(1)} admin`, /^line 2: .*64 hexadecimal/],
  [`ci ${sha256("a")}`, /^line 1: there is no role/],
  [`ci ${sha256("a")} root`, /^line 1: there is no role "root": admin, operator/],
  [`ci ${sha256("a")} viewer\nci ${sha256("a")} admin`, /^line 2: the same token or certificate/],
])("refuses %j, without quoting what may be a token", (text, message) => {
  let failure: unknown;
  try {
    parseTokenList(text);
  } catch (cause) {
    failure = cause;
  }
  expect(failure).toBeInstanceOf(BadTokenList);
  expect((failure as Error).message).toMatch(message);
  expect((failure as Error).message).not.toContain("secret-token");
});
