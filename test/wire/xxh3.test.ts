import { expect, test } from "vitest";
import { newInvocationId } from "../../src/model/id.ts";
import { xxh3 } from "../../src/model/xxh3.ts";

/** Made by the hash's own C library, of so many bytes 3, 10, 17 …. */
const vectors: readonly (readonly [number, string])[] = [
  [0, "2d06800538d394c2"],
  [1, "13e608bc156defed"],
  [2, "1c9074b93943b86c"],
  [3, "a9088dda485b481c"],
  [4, "6d9253b16c8b1ed3"],
  [7, "8e8291ad89127e2e"],
  [8, "60539db630471163"],
  [9, "feff668361d723a8"],
  [15, "9ec169f4a98231c1"],
  [16, "b8c859b0f030b585"],
  [17, "714a04408e79b80f"],
  [31, "ed41ac283d0674b3"],
  [32, "19ff4ee1d6ba1a55"],
  [33, "3e44983ad21679c8"],
  [64, "287eb1fa9e4be2c1"],
  [65, "829218de4d798646"],
  [96, "f084e7cfbc624743"],
  [97, "1daa83271a8e7b7c"],
  [128, "67425a03650261bf"],
  [129, "c664bf3311c6abc4"],
  [144, "606a17fa700bb932"],
  [239, "1d861931c1f3cafa"],
  [240, "64556dc6b462a6cf"],
  [241, "8beadd3a8874fe17"],
  [256, "3c38817f6d79c0da"],
  [511, "e3fca5c97aa72e1b"],
  [1024, "9b81661c641c72b1"],
  [1025, "806c2072ed713576"],
  [1088, "2f8781e01841f0da"],
  [4000, "b64c496535c38eb6"],
];

test.each(vectors)("hashes %s bytes as others do", (length, expected) => {
  const bytes = Uint8Array.from({ length: length + 2 }, (_, i) => i * 7 - 4).subarray(1, -1);
  expect(xxh3(bytes).toString(16).padStart(16, "0")).toBe(expected);
});

const named = { service: "Obj", handler: "greet", isWorkflowRun: false, idempotencyKey: "abc" };

// Seen of the reference.
test.each([
  ["inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8", {
    service: "Wf",
    handler: "run",
    key: "w1",
    isWorkflowRun: true,
  }],
  ["inv_1foAirY4KKzi4PJORng6RmPlAENtR3EcNC", { ...named, key: "k1" }],
])("%s is what others call it, too", (id, identity) => {
  expect(newInvocationId(identity, new Uint8Array(16), 0)).toEqual({ id, fresh: false });
});

test.each([["\u00fc", "inv_1eRyVa6NPZk"], ["", "inv_141kvpM9252"]])(
  'what concerns the object "%s" begins as with others',
  (key, prefix) => {
    const { id } = newInvocationId({ ...named, key }, new Uint8Array(16), 0);
    expect(id.slice(0, prefix.length)).toBe(prefix);
  },
);
