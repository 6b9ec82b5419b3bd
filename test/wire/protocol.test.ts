import { expect, test } from "vitest";
import { negotiate } from "../../src/model/protocol.ts";

test.each([
  [5, 7, 6, 6],
  [5, 99, 6, 6],
  [1, 5, 6, 5],
  [5, 7, 7, 7],
  [5, 6, 7, 6],
  // A deployment that only knows what we would not choose by ourselves.
  [7, 9, 6, 7],
])("versions %i to %i, %i preferred: %i", (min, max, preferred, version) => {
  expect(negotiate(min, max, preferred)).toBe(version);
});

test.each([[1, 4], [8, 9]])("versions %i to %i have none in common with us", (min, max) => {
  expect(negotiate(min, max)).toBeUndefined();
});
