import { assert } from "../assert.ts";
import type { Awaiting } from "./invocation.ts";
import type { NotificationId, NotificationResult } from "./journal.ts";

/**
 * How a leaf or a combinator ended. `unknown`: completed, but whether as success or failure is not known.
 * `undecidable`: a combinator depends on an unknown outcome, so all waiting ends.
 */
export type Ending = "success" | "failure" | "unknown" | "undecidable";

/**
 * The tree that is awaited after a notification: the tree without it, the same tree when it is not
 * awaited, or undefined when the wait is over (docs/spec/service-protocol.md#suspension). Where a
 * combinator depends on a child whose outcome is unknown, the wait is over: the SDK decides.
 */
export function afterNotification(
  awaiting: Awaiting,
  id: NotificationId,
  result: NotificationResult,
): Awaiting | undefined {
  const left = prune(awaiting, id, result.kind === "failure" ? "failure" : "success");
  return typeof left === "string" ? undefined : left;
}

/** The rest that a combinator awaits, or how it ended. */
function prune(tree: Awaiting, id: NotificationId, ending: Ending): Awaiting | Ending {
  const flat = withoutLeaf(tree, id);
  let over: Ending | undefined = flat === tree ? undefined : decide(tree, ending);
  let isChanged = flat !== tree;
  const nested: Awaiting[] = [];
  for (const child of tree.nested ?? []) {
    const left = prune(child, id, ending);
    if (left !== child) isChanged = true;
    if (typeof left !== "string") nested.push(left);
    else if (over !== "undecidable") over = decide(tree, left) ?? over;
  }
  if (over) return over;
  if (!isChanged) return tree;
  const { nested: _, ...leaves } = flat;
  const left = nested.length > 0 ? { ...leaves, nested } : leaves;
  return isEmpty(left) ? exhausted(tree) : left;
}

/** How a child that ended ends its combinator; undefined: the combinator waits on. */
export function decide({ kind }: Awaiting, child: Ending): Ending | undefined {
  if (child === "undecidable") return child;
  switch (kind) {
    case "unknown":
      return "unknown";
    case "first":
      return child;
    case "allCompleted":
      return undefined;
    case "any":
      return child === "unknown" ? "undecidable" : child === "failure" ? undefined : child;
    case "all":
      return child === "unknown" ? "undecidable" : child === "success" ? undefined : child;
  }
}

/** How a combinator ends when all of its children have ended. */
export function exhausted({ kind }: Awaiting): Ending {
  assert(kind !== "unknown" && kind !== "first", "These end with their first child");
  return kind === "any" ? "failure" : "success";
}

function isEmpty({ completions, signals, names, nested }: Awaiting): boolean {
  return completions.length + signals.length + names.length + (nested?.length ?? 0) === 0;
}

/** Returns the same object when this id is no direct child of the combinator. */
function withoutLeaf(tree: Awaiting, id: NotificationId): Awaiting {
  switch (id.kind) {
    case "completion":
      if (!tree.completions.includes(id.id)) return tree;
      return { ...tree, completions: tree.completions.filter((one) => one !== id.id) };
    case "signal":
      if (!tree.signals.includes(id.index)) return tree;
      return { ...tree, signals: tree.signals.filter((one) => one !== id.index) };
    case "named":
      if (!tree.names.includes(id.name)) return tree;
      return { ...tree, names: tree.names.filter((one) => one !== id.name) };
  }
}
