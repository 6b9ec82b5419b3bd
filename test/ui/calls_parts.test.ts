import { describe, expect, test } from "vitest";
import {
  type Call,
  type CallTree,
  figuresOf,
  momentsOf,
  rowsOf,
  windowOf,
} from "../../src/ui/pages/invocation/calls/tree.ts";

const call = (id: string, more: Partial<Call> = {}): Call => ({
  id,
  target: `Tree/${id}`,
  status: "completed",
  completion_result: "success",
  created_at: "2026-01-01T00:00:00Z",
  ...more,
});

/** A tree of `caller > callee` pairs. `siblings`: how many calls a caller has, if more than these. */
function treeOf(
  pairs: readonly string[],
  { siblings = {}, asked }: {
    readonly siblings?: Readonly<Record<string, number>>;
    readonly asked?: readonly string[];
  } = {},
): CallTree {
  const split = pairs.map((pair) => pair.split(" > ") as [string, string]);
  const count = (caller: string) => split.filter(([one]) => one === caller).length;
  const ids = split.map(([, id]) => id);
  return {
    root: call("root"),
    edges: split.map(([caller, id]) => ({
      id,
      invoked_by_id: caller,
      created_at: "2026-01-01T00:00:00Z",
      siblings: siblings[caller] ?? count(caller),
    })),
    calls: new Map(ids.map((id) => [id, call(id)])),
    asked: new Set(asked ?? ["root", ...ids]),
  };
}

const textOf = (tree: CallTree, folded: readonly string[] = []) =>
  rowsOf(tree, new Set(folded)).map((row) =>
    "  ".repeat(row.level) + (row.kind === "call" ? row.id : `+${row.hidden ?? "?"}`)
  );

describe("a call tree", () => {
  test("has callers before their calls, each one level deeper", () => {
    expect(textOf(treeOf(["root > a", "root > b", "a > c"]))).toEqual([
      "root",
      "  a",
      "    c",
      "  b",
    ]);
  });

  test("says how many calls are not shown, and where they were not read", () => {
    const tree = treeOf(["root > a", "a > b"], {
      siblings: { root: 4_201 },
      asked: ["root", "a"],
    });
    expect(textOf(tree)).toEqual(["root", "  a", "    b", "      +?", "  +4200"]);
    expect(figuresOf(tree)).toEqual({ calls: 2, failed: 0, open: 0, hidden: 4_200 });
  });

  test("leaves out what is below a folded call", () => {
    const tree = treeOf(["root > a", "root > b", "a > c"], { siblings: { a: 9 } });
    expect(textOf(tree, ["a"])).toEqual(["root", "  a", "  b"]);
    expect(rowsOf(tree, new Set(["a"])).map((row) => row.kind === "call" && row.isOpen))
      .toEqual([true, false, undefined]);
  });

  test("ends where damaged rows name each other as callers", () => {
    expect(textOf(treeOf(["root > a", "a > root", "a > b", "b > a"]))).toEqual([
      "root",
      "  a",
      "    b",
    ]);
  });

  test("leaves out a call that was purged while it was read", () => {
    const tree = treeOf(["root > a", "root > b"]);
    const calls = new Map([["b", call("b")]]);
    expect(textOf({ ...tree, calls })).toEqual(["root", "  b"]);
  });

  test("counts what failed and what is open, and knows all its moments", () => {
    const calls = new Map([
      ["a", call("a", { completion_result: "failure", completed_at: "2026-01-01T00:00:02Z" })],
      ["b", call("b", { status: "running", running_at: "2026-01-01T00:00:01Z" })],
    ]);
    const tree = { ...treeOf(["root > a", "root > b"]), calls };
    expect(figuresOf(tree)).toEqual({ calls: 2, failed: 1, open: 1, hidden: 0 });
    const from = Date.parse("2026-01-01T00:00:00Z");
    expect([...new Set(momentsOf(rowsOf(tree, new Set())))].toSorted())
      .toEqual([from, from + 1_000, from + 2_000]);
  });

  test("is searched for while callers ran, with time for clocks that differ", () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 1, minute)).toISOString();
    const [first, second] = [
      { created_at: at(10), completed_at: at(12) },
      { created_at: at(11), completed_at: at(20) },
    ];
    const window = windowOf([first, second]);
    expect([window.from.toISOString(), window.to?.toISOString()]).toEqual([at(5), at(25)]);
    expect(windowOf([first, { created_at: at(9) }])).toEqual({
      from: new Date(at(4)),
      to: undefined,
    });
  });
});
