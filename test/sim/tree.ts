import type { Awaiting, Combinator } from "../../src/model/invocation.ts";
import type { Entry, NotificationId } from "../../src/model/journal.ts";

/** A notification that came: its place in the journal, and whether it is a failure. */
export interface Arrival {
  readonly at: number;
  readonly isFailure: boolean;
}

/** The arrival of a leaf, if it came: see `keyOf`. */
export type Arrivals = (key: string) => Arrival | undefined;

/** A leaf of a tree by one name. */
export function keyOf(id: NotificationId): string {
  switch (id.kind) {
    case "completion":
      return `c${id.id}`;
    case "signal":
      return `s${id.index}`;
    case "named":
      return `n${id.name}`;
  }
}

/** A tree of one level. `keys`: as `keyOf` names them. */
export function combined(
  kind: Combinator,
  keys: readonly string[],
  nested: readonly Awaiting[] = [],
): Awaiting {
  const of = (letter: string) => keys.filter((key) => key[0] === letter).map((key) => key.slice(1));
  return {
    kind,
    completions: of("c").map(Number),
    signals: of("s").map(Number),
    names: of("n"),
    ...(nested.length > 0 ? { nested } : {}),
  };
}

/** All leaves, those of nested trees too. */
export function leavesOf(tree: Awaiting): string[] {
  return [...ownLeaves(tree), ...(tree.nested ?? []).flatMap(leavesOf)];
}

function ownLeaves({ completions, signals, names }: Awaiting): string[] {
  return [
    ...completions.map((id) => `c${id}`),
    ...signals.map((index) => `s${index}`),
    ...names.map((name) => `n${name}`),
  ];
}

/**
 * When a tree was over, and how; undefined: it is not. Told from all arrivals at once, in other
 * words than the engine's, which goes from one to the next
 * (docs/spec/service-protocol.md#suspension).
 */
export function settled(tree: Awaiting, arrivals: Arrivals): Arrival | undefined {
  const children = [
    ...ownLeaves(tree).map((key) => arrivals(key)),
    ...(tree.nested ?? []).map((one) => settled(one, arrivals)),
  ];
  const over = children.filter((one) => one !== undefined).sort((a, b) => a.at - b.at);
  const last = over.length === children.length ? over.at(-1) : undefined;
  switch (tree.kind) {
    case "unknown":
    case "first":
      return over[0];
    case "allCompleted":
      return last && { at: last.at, isFailure: false };
    case "any":
      return over.find(({ isFailure }) => !isFailure) ?? last;
    case "all":
      return over.find(({ isFailure }) => isFailure) ?? last;
  }
}

/** A tree that is not over, without what is, as SDKs send it. */
export function pruned(tree: Awaiting, arrivals: Arrivals): Awaiting {
  const keys = ownLeaves(tree).filter((key) => !arrivals(key));
  const nested = (tree.nested ?? []).filter((one) => !settled(one, arrivals));
  return combined(tree.kind, keys, nested.map((one) => pruned(one, arrivals)));
}

/** Arrivals as a journal has them from `from` on. The first of each counts. */
export function arrivalsFrom(entries: readonly Entry[], from: number): Arrivals {
  const found = new Map<string, Arrival>();
  for (let at = from; at < entries.length; at++) {
    const entry = entries[at];
    if (entry?.kind !== "notification") continue;
    const key = keyOf(entry.id);
    if (!found.has(key)) found.set(key, { at, isFailure: entry.result.kind === "failure" });
  }
  return (key) => found.get(key);
}
