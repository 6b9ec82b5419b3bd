import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { afterNotification } from "../../src/model/awaiting.ts";
import type { Awaiting } from "../../src/model/invocation.ts";
import { decodeMessage } from "../../src/wire/decode.ts";
import * as pb from "../../src/wire/gen/service_pb.ts";
import { bytesOf } from "./_bytes.ts";
import { futureOf } from "./_messages.ts";
import { hasEmptyOnes, treeOf } from "./_oracle.ts";

/** What is awaited, or why the message is refused. */
function awaitingOf(body: Uint8Array, limits?: { futureDepthMax: number }): Awaiting | string {
  try {
    const message = decodeMessage(1, 0, body, 7, limits);
    if (message.kind === "suspension") return message.awaiting;
    throw new Error(message.kind);
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

function leaves(kind: Awaiting["kind"], completions: number[], nested?: Awaiting[]): Awaiting {
  return { kind, completions, signals: [], names: [], ...(nested && { nested }) };
}

test.each(
  [
    ["absent", "", "unknown"],
    ["0", "28 00", "unknown"],
    ["1", "28 01", "first"],
    ["2", "28 02", "allCompleted"],
    ["3", "28 03", "any"],
    ["4", "28 04", "all"],
    ["5", "28 05", "unknown"],
    ["-1", "28 ffffffffffffffffff01", "unknown"],
  ] as const,
)("combinator %s is %s", (_number, field, kind) => {
  const length = 2 + bytesOf(field).length + 1;
  const body = bytesOf(`22 ${length.toString(16).padStart(2, "0")} 0a 01 07 ${field}`);
  expect(awaitingOf(body)).toEqual(leaves(kind, [7]));
});

const NOTHING = "[RT0012] Cannot decode Suspension (0x0001): it awaits nothing";

test.each([
  ["an empty message", ""],
  ["an empty tree", "22 00"],
  ["an empty all", "22 02 28 04"],
  ["empty trees in an empty tree", "22 04 22 00 22 00"],
  ["a race of an all of nothing", "22 06 22 02 28 04 28 01"],
  ["a race that an all of nothing has won", "22 09 0a 01 07 22 02 28 04 28 01"],
  ["an all that an any of nothing has failed", "22 09 0a 01 07 22 02 28 03 28 04"],
])("%s is refused: it awaits nothing", (_what, body) => {
  expect(awaitingOf(bytesOf(body))).toBe(NOTHING);
});

test.each([
  ["a race of nothing in a race", "22 09 0a 01 07 22 02 28 01 28 01"],
  ["an all of nothing in an all", "22 09 0a 01 07 22 02 28 04 28 04"],
  ["an any of nothing in an any", "22 09 0a 01 07 22 02 28 03 28 03"],
  [
    "anything of nothing in an allCompleted, beside a sibling",
    "22 0e 22 02 28 03 22 02 28 00 22 02 08 07 28 02",
  ],
])("with %s, any notification wakes", (_what, body) => {
  expect(awaitingOf(bytesOf(body))).toEqual(leaves("unknown", [7]));
});

test("an AwaitingOn of nothing is refused", () => {
  for (const version of [6, 7]) {
    expect(() => decodeMessage(6, 0, bytesOf("0a 00"), version)).toThrow("it awaits nothing");
    const told = decodeMessage(6, 0, bytesOf("0a 03 12 01 01"), version);
    expect(told).toEqual({ kind: "awaitingOn" });
  }
});

/** The message without the prefix. */
function deepest(depth: number): string {
  return `[RT0025] maximum awaited future depth limit of ${depth} has been reached.`;
}

test("futures may be nested 1000 deep, and no deeper", () => {
  expect(awaitingOf(nested(1001))).toHaveProperty("nested");
  expect(awaitingOf(nested(1002))).toBe(deepest(1000));
  expect(awaitingOf(nested(20_000))).toBe(deepest(1000));
});

test("how deep futures may be nested can be told", () => {
  expect(awaitingOf(nested(21), { futureDepthMax: 20 })).toHaveProperty("nested");
  expect(awaitingOf(nested(22), { futureDepthMax: 20 })).toBe(deepest(20));
  expect(awaitingOf(nested(1), { futureDepthMax: 1 })).toEqual(leaves("unknown", [1]));
  const told = nested(3).map((byte, at) => at === 0 ? 0x0a : byte);
  expect(() => decodeMessage(6, 0, told, 7, { futureDepthMax: 1 })).toThrow(deepest(1));
});

test("what is as deep as it may be can be waited for", () => {
  const awaiting = awaitingOf(nested(1001));
  if (typeof awaiting === "string") throw awaiting;
  const [arrived, other] = [1, 2].map((id) =>
    afterNotification(awaiting, { kind: "completion", id }, { kind: "void" })
  );
  expect(arrived).toBeUndefined();
  expect(other).toBe(awaiting);
});

test("a limit that is too high for the stack counts as 1000", () => {
  const limits = { futureDepthMax: 1_000_000 };
  expect(awaitingOf(nested(1001), limits)).toHaveProperty("nested");
  expect(awaitingOf(nested(1002), limits)).toBe(deepest(1000));
  expect(awaitingOf(nested(100_000), limits)).toBe(deepest(1000));
});

/** A suspension whose tree has this many levels, the root included, with completion 1 at its bottom. */
function nested(depth: number): Uint8Array {
  let size = 3;
  const heads: number[][] = [];
  for (let level = 0; level < depth; level++) {
    const head = [0x22, ...lengthOf(size)];
    heads.push(head);
    size += head.length;
  }
  return Uint8Array.from([...heads.reverse().flat(), 0x0a, 0x01, 0x01]);
}

function lengthOf(value: number): number[] {
  return value < 128 ? [value] : [value & 127 | 128, ...lengthOf(value >>> 7)];
}

/** When something ended (0: before all notifications), and how. */
interface End {
  readonly at: number;
  readonly how: "success" | "failure" | "unknown" | "undecidable";
}

/** docs/spec/service-protocol.md#suspension once more, over the whole history of a tree. */
function endOf(tree: Awaiting, arrived: ReadonlyMap<number, End>): End | undefined {
  const { kind, completions, nested = [] } = tree;
  const ends = [
    ...completions.map((id) => arrived.get(id)),
    ...nested.map((one) => endOf(one, arrived)),
  ];
  const over = ends.filter((end) => end !== undefined).toSorted((a, b) => a.at - b.at);
  for (const { at, how } of over) {
    if (how === "undecidable") return { at, how };
    if (kind === "unknown") return { at, how: "unknown" };
    if (kind === "first") return { at, how };
    if (kind === "allCompleted") continue;
    if (how === "unknown") return { at, how: "undecidable" };
    if (how === (kind === "any" ? "success" : "failure")) return { at, how };
  }
  if (over.length < ends.length || kind === "unknown" || kind === "first") return undefined;
  return { at: over.at(-1)?.at ?? 0, how: kind === "any" ? "failure" : "success" };
}

/** The tree with completions 1, 2, … in the place of all its leaves. */
function numbered(tree: Awaiting, next: { id: number }): Awaiting {
  const count = tree.completions.length + tree.signals.length + tree.names.length;
  const completions = Array.from({ length: count }, () => next.id++);
  return leaves(tree.kind, completions, tree.nested?.map((one) => numbered(one, next)));
}

const numbers = {
  unknown: pb.Combinator.UNKNOWN,
  first: pb.Combinator.FIRST_COMPLETED,
  allCompleted: pb.Combinator.ALL_COMPLETED,
  any: pb.Combinator.FIRST_SUCCEEDED_OR_ALL_FAILED,
  all: pb.Combinator.ALL_SUCCEEDED_OR_FIRST_FAILED,
};

function future(tree: Awaiting): pb.Future {
  return create(pb.FutureSchema, {
    waitingCompletions: [...tree.completions],
    nestedFutures: (tree.nested ?? []).map(future),
    combinatorType: numbers[tree.kind],
  });
}

/** At which notification the wait for this message is over; undefined: at none of them. */
function wakesAt(awaiting: Awaiting, arrived: ReadonlyMap<number, End>): number | undefined {
  let left = awaiting;
  for (const [id, { at, how }] of arrived) {
    const failure = { code: 500, message: "" };
    const result = how === "failure" ? { kind: how, failure } : { kind: "void" as const };
    const now = afterNotification(left, { kind: "completion", id }, result);
    if (!now) return at;
    left = now;
  }
  return undefined;
}

/** A tree, and notifications of some of its leaves in some order. */
function history(least: 0 | 1): fc.Arbitrary<[Awaiting, ReadonlyMap<number, End>]> {
  return futureOf(least).chain((shape) => {
    const next = { id: 1 };
    const tree = numbered(treeOf(create(pb.FutureSchema, shape)), next);
    const ids = Array.from({ length: next.id - 1 }, (_, i) => i + 1);
    const hows = fc.infiniteStream(fc.constantFrom("success" as const, "failure" as const));
    return fc.tuple(fc.shuffledSubarray(ids), hows).map(([order, how]) => {
      const arrived = order.map((
        id,
        i,
      ): [number, End] => [id, { at: i + 1, how: how.next().value }]);
      return [tree, new Map(arrived)];
    });
  });
}

function suspensionOf(tree: Awaiting): Uint8Array {
  return toBinary(
    pb.SuspensionV7Schema,
    create(pb.SuspensionV7Schema, { awaitingOn: future(tree) }),
  );
}

test("a wait is over when the protocol says so", () => {
  fc.assert(
    fc.property(history(1), ([tree, arrived]) => {
      const awaiting = awaitingOf(suspensionOf(tree));
      if (typeof awaiting === "string") throw awaiting;
      expect(wakesAt(awaiting, arrived)).toBe(endOf(tree, arrived)?.at);
    }),
    { numRuns: 1000 },
  );
});

test("empty combinators are gone, and what awaits them is never over too late", () => {
  fc.assert(
    fc.property(history(0), ([tree, arrived]) => {
      const awaiting = awaitingOf(suspensionOf(tree));
      const end = endOf(tree, arrived)?.at;
      if (typeof awaiting === "string") {
        expect(awaiting).toBe(NOTHING);
        expect(hasEmptyOnes(tree)).toBe(true);
        return;
      }
      expect(hasEmptyOnes(awaiting)).toBe(false);
      expect(end).not.toBe(0);
      if (end !== undefined) expect(wakesAt(awaiting, arrived)).toBeLessThanOrEqual(end);
    }),
    { numRuns: 2000 },
  );
});
