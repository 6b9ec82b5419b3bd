import type { Awaiting, Combinator } from "../../model/invocation.ts";

/** Combinators as the reference spells them (docs/spec/queries.md#journal-entries). */
const NAMES: Readonly<Record<Combinator, string>> = {
  unknown: "Unknown",
  first: "FirstCompleted",
  allCompleted: "AllCompleted",
  any: "FirstSucceededOrAllFailed",
  all: "AllSucceededOrFirstFailed",
};

/** A tree of what is awaited, out of its JSON; undefined when it is something else. */
export function treeOf(json: string): Awaiting | undefined {
  try {
    const tree: unknown = JSON.parse(json);
    return typeof tree === "object" && tree !== null && "kind" in tree
      ? tree as Awaiting
      : undefined;
  } catch {
    return undefined;
  }
}

/** The tree as the reference prints it: `{"Unknown":[{"Single":{"CompletionId":3}}]}`. */
export function futureJson(tree: Awaiting | undefined): string | null {
  return tree ? JSON.stringify(print(tree)) : null;
}

function print({ kind, completions, signals, names, nested }: Awaiting): object {
  return {
    [NAMES[kind]]: [
      ...completions.map((id) => ({ Single: { CompletionId: id } })),
      ...signals.map((index) => ({ Single: { SignalIndex: index } })),
      ...names.map((name) => ({ Single: { SignalName: name } })),
      ...nested?.map(print) ?? [],
    ],
  };
}
