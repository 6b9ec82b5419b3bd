import fc from "fast-check";
import { expect, test } from "vitest";
import { afterNotification } from "../../src/model/awaiting.ts";
import type { Awaiting, Combinator } from "../../src/model/invocation.ts";
import type { NotificationId, NotificationResult } from "../../src/model/journal.ts";

type Notification = { readonly id: NotificationId; readonly isFailure: boolean };
type Ending = "success" | "failure" | "unknown";
/** When a node is over, as a place among the notifications, and how. Infinity: never. */
type Over = { readonly at: number; readonly how: Ending };

const NEVER: Over = { at: Infinity, how: "unknown" };
const resultOf = ({ isFailure }: Notification): NotificationResult =>
  isFailure ? { kind: "failure", failure: { code: 500, message: "no" } } : { kind: "void" };
const same = (a: NotificationId, b: NotificationId) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The table of docs/spec/service-protocol.md#suspension, read from the whole history at once
 * instead of one notification after the other. `wake.at` is when some combinator has to know what
 * cannot be decided.
 */
function over(tree: Awaiting, arrived: readonly Notification[], wake: { at: number }): Over {
  const leaves: NotificationId[] = [
    ...tree.completions.map((id) => ({ kind: "completion", id }) as const),
    ...tree.signals.map((index) => ({ kind: "signal", index }) as const),
    ...tree.names.map((name) => ({ kind: "named", name }) as const),
  ];
  const children = leaves.map((leaf): Over => {
    const at = arrived.findIndex(({ id }) => same(id, leaf));
    const found = arrived[at];
    return found ? { at, how: found.isFailure ? "failure" : "success" } : NEVER;
  });
  const inner: { at: number }[] = [];
  for (const child of tree.nested ?? []) {
    const own = { at: Infinity };
    inner.push(own);
    children.push(over(child, arrived, own));
  }
  const ended = ending(tree.kind, children.sort((a, b) => a.at - b.at), wake);
  // What happens inside a combinator that is over already wakes no invocation.
  for (const { at } of inner) if (at <= ended.at) wake.at = Math.min(wake.at, at);
  return ended;
}

function ending(kind: Combinator, children: readonly Over[], wake: { at: number }): Over {
  const last = children.at(-1) ?? NEVER;
  for (const child of children) {
    if (child.at === Infinity) return NEVER;
    switch (kind) {
      case "unknown":
        return { at: child.at, how: "unknown" };
      case "first":
        return child;
      case "allCompleted":
        break;
      case "any":
      case "all":
        if (child.how === "unknown") wake.at = Math.min(wake.at, child.at);
        if (child.how === (kind === "any" ? "success" : "failure")) return child;
    }
  }
  return { at: last.at, how: kind === "any" ? "failure" : "success" };
}

const kinds = fc.constantFrom<Combinator>("unknown", "first", "allCompleted", "any", "all");
const leaves = {
  kind: kinds,
  completions: fc.uniqueArray(fc.nat(5), { maxLength: 3 }),
  signals: fc.uniqueArray(fc.integer({ min: 17, max: 19 }), { maxLength: 1 }),
  names: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 1 }),
};
const { tree: shapes } = fc.letrec<{ tree: Awaiting }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.record(leaves),
    fc.record({ ...leaves, nested: fc.array(tie("tree"), { maxLength: 3 }) }),
  ),
}));
/** Each id stands in one place, and no combinator is empty: what nobody waits for comes in. */
const trees = shapes.map((shape) => distinct(shape, new Set()));

function distinct(tree: Awaiting, seen: Set<number | string>): Awaiting {
  const first = <T extends number | string>(id: T) => !seen.has(id) && !!seen.add(id);
  const own = {
    kind: tree.kind,
    completions: tree.completions.filter(first),
    signals: tree.signals.filter(first),
    names: tree.names.filter(first),
  };
  const nested = (tree.nested ?? []).map((child) => distinct(child, seen));
  if (nested.length > 0) return { ...own, nested };
  const isEmpty = own.completions.length + own.signals.length + own.names.length === 0;
  return isEmpty ? { ...own, completions: [100 + seen.size] } : own;
}

const ids = fc.oneof(
  fc.nat(6).map((id) => ({ kind: "completion", id }) as const),
  fc.integer({ min: 16, max: 19 }).map((index) => ({ kind: "signal", index }) as const),
  fc.constantFrom("a", "b", "c").map((name) => ({ kind: "named", name }) as const),
);
const histories = fc.uniqueArray(fc.record({ id: ids, isFailure: fc.boolean() }), {
  selector: ({ id }) => JSON.stringify(id),
  maxLength: 12,
});

test("a wait is over exactly when the table says so", () => {
  fc.assert(
    fc.property(trees, histories, (tree, arrived) => {
      const wake = { at: Infinity };
      const expected = Math.min(over(tree, arrived, wake).at, wake.at);
      let left: Awaiting | undefined = tree;
      let at = Infinity;
      for (const [place, one] of arrived.entries()) {
        left = afterNotification(left, one.id, resultOf(one));
        if (left) continue;
        at = place;
        break;
      }
      expect(at).toBe(expected);
    }),
    { numRuns: 3_000 },
  );
}, 60_000);

test("a notification of something else leaves the tree as it is", () => {
  const tree: Awaiting = { kind: "all", completions: [1, 2], signals: [1], names: [] };
  expect(afterNotification(tree, { kind: "named", name: "x" }, { kind: "void" })).toBe(tree);
});

test("what has arrived is pruned, so that a stored tree names what is missing", () => {
  const tree: Awaiting = {
    kind: "first",
    completions: [],
    signals: [1],
    names: [],
    nested: [{ kind: "all", completions: [1, 2], signals: [], names: [] }],
  };
  expect(afterNotification(tree, { kind: "completion", id: 1 }, { kind: "void" })).toEqual({
    ...tree,
    nested: [{ kind: "all", completions: [2], signals: [], names: [] }],
  });
});
