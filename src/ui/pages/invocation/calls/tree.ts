import type { Int } from "../../../data/json.ts";
import type { StatusColumns } from "../../../widgets/status.tsx";

/** What bounds a call tree, so that thousands of calls neither stop the page nor load the server. */
export const TREE = {
  /** Levels below the invocation that are read. */
  levelsMax: 16,
  /** Calls of one caller that are read at first, and more for each time that more are asked for. */
  childrenMax: 25,
  childrenMore: 200,
  /** Calls in the whole tree. */
  rowsMax: 1_000,
} as const;

/** A call in the tree, as it is stored. */
export interface Call extends StatusColumns {
  readonly id: string;
  readonly target: string;
  readonly created_at: string;
  readonly running_at?: string;
  readonly completed_at?: string;
  readonly retry_count?: Int;
  readonly last_failure?: string;
}

/** Where a call belongs, before anything else of it is read. */
export interface Edge {
  readonly id: string;
  readonly invoked_by_id: string;
  readonly created_at: string;
  readonly completed_at?: string;
  /** How many calls its caller has made that are still stored. */
  readonly siblings: Int;
}

/** A tree as far as it was read. */
export interface CallTree {
  readonly root: Call;
  readonly edges: readonly Edge[];
  readonly calls: ReadonlyMap<string, Call>;
  /** The ids whose calls were asked for. */
  readonly asked: ReadonlySet<string>;
}

/** A row of the picture: a call, or a sentence in place of calls that are not shown. */
export type TreeRow =
  | {
    readonly kind: "call";
    readonly id: string;
    readonly level: number;
    readonly call: Call;
    /** Undefined: it has called nothing that is known. */
    readonly isOpen: boolean | undefined;
  }
  | {
    readonly kind: "more";
    readonly id: string;
    readonly level: number;
    readonly caller: string;
    /** How many calls of this caller are not shown. Undefined: its calls were not read. */
    readonly hidden: number | undefined;
  };

/** The rows of a tree from its root down, callers before their calls. `folded`: ids without their calls. */
export function rowsOf(tree: CallTree, folded: ReadonlySet<string>): TreeRow[] {
  const byCaller = byCallerOf(tree.edges);
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const add = (call: Call, level: number): void => {
    // A damaged row could name a descendant as its caller.
    if (seen.has(call.id)) return;
    seen.add(call.id);
    const edges = byCaller.get(call.id) ?? [];
    const isAsked = tree.asked.has(call.id);
    const isOpen = edges.length === 0 && isAsked ? undefined : !folded.has(call.id);
    rows.push({ kind: "call", id: call.id, level, call, isOpen });
    if (!isOpen) return;
    for (const { id } of edges) {
      const child = tree.calls.get(id);
      if (child) add(child, level + 1);
    }
    const hidden = isAsked ? Number(edges[0]?.siblings ?? 0) - edges.length : undefined;
    if (hidden === 0) return;
    rows.push({ kind: "more", id: `more ${call.id}`, level: level + 1, caller: call.id, hidden });
  };
  add(tree.root, 0);
  return rows;
}

function byCallerOf(edges: readonly Edge[]): ReadonlyMap<string, readonly Edge[]> {
  const byCaller = new Map<string, Edge[]>();
  for (const edge of edges) {
    const known = byCaller.get(edge.invoked_by_id);
    if (known) known.push(edge);
    else byCaller.set(edge.invoked_by_id, [edge]);
  }
  return byCaller;
}

/** How far the clocks of two processes may be apart, in ms. */
const CLOCKS_APART_MS = 300_000;

/**
 * When callers can have called: from their acceptance until they ended, if all have. Times of
 * acceptance are answered from an index, so that a level need not be searched for in all invocations.
 */
export function windowOf(
  callers: readonly Pick<Edge, "created_at" | "completed_at">[],
): { readonly from: Date; readonly to: Date | undefined } {
  // Thousands of arguments are too many for `Math.min(...)`.
  const from = callers.reduce((ms, { created_at: at }) => Math.min(ms, Date.parse(at)), Infinity);
  const isEnded = callers.every(({ completed_at: at }) => at !== undefined);
  const to = callers.reduce((ms, { completed_at: at }) => Math.max(ms, Date.parse(at ?? "")), 0);
  return {
    from: new Date(from - CLOCKS_APART_MS),
    to: isEnded ? new Date(to + CLOCKS_APART_MS) : undefined,
  };
}

/** Figures of a tree for one sentence. */
export interface Figures {
  /** Calls below the root that were read, and how many of them failed or are open. */
  readonly calls: number;
  readonly failed: number;
  readonly open: number;
  /** Calls that are known to exist and were not read. */
  readonly hidden: number;
}

/** Counts what a tree has. Each caller's calls that were not read count once. */
export function figuresOf({ edges, calls }: CallTree): Figures {
  const known = edges.flatMap(({ id }) => calls.get(id) ?? []);
  const byCaller = byCallerOf(edges);
  const hidden = [...byCaller.values()].map((all) => Number(all[0]!.siblings) - all.length);
  return {
    calls: known.length,
    failed: known.filter(({ completion_result: result }) => result === "failure").length,
    open: known.filter(({ status }) => status !== "completed").length,
    hidden: hidden.reduce((sum, count) => sum + count, 0),
  };
}

/** All moments of a tree in ms since the epoch: when calls were accepted, began and ended. */
export function momentsOf(rows: readonly TreeRow[]): number[] {
  return rows.flatMap((row) =>
    row.kind === "more" ? [] : [row.call.created_at, row.call.running_at, row.call.completed_at]
  ).filter((at) => at !== undefined).map((at) => Date.parse(at));
}
