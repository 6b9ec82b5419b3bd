import { expect, test } from "vitest";
import { type About, type Hint, hintIn, isAbout } from "../../src/ui/data/hint.ts";

const ONE = { invocations: ["inv_1", "inv_2"] };
const CART = { service: "Cart" };

test.each<[Hint, About, boolean]>([
  [{ inv: ["inv_2"], svc: ["Cart"] }, ONE, true],
  [{ inv: ["inv_3"], svc: ["Cart"] }, ONE, false],
  [{ inv: ["inv_3"], svc: ["Cart"] }, CART, true],
  [{ inv: ["inv_1"], svc: ["Cart/a"] }, CART, false],
  [{ inv: ["inv_1"], svc: ["Cart"] }, "configuration", false],
  [{ config: true }, "configuration", true],
  // A pause of its deployment is why it waits.
  [{ config: true }, ONE, true],
  [{ config: true }, CART, false],
  [{ all: true }, ONE, true],
  [{ all: true }, CART, true],
  [{ all: true }, "configuration", true],
  [{}, ONE, false],
])("the hint %j of %j says that it may have changed: %j", (hint, about, expected) => {
  expect(isAbout(hint, about)).toBe(expected);
});

test("a hint is the data of an event, and what is not understood may say anything", () => {
  expect(hintIn('data: {"v":3,"inv":["inv_1"]}')).toEqual({ v: 3, inv: ["inv_1"] });
  expect(hintIn('retry: 1000\ndata: {"all":true}')).toEqual({ all: true });
  for (const data of ["{", "3", "null", ""]) expect(hintIn(`data: ${data}`)).toEqual({ all: true });
  expect(hintIn(": alive")).toBeUndefined();
});
