import { useMemo } from "preact/hooks";
import { useQuery } from "../../data/hooks.ts";
import { type Sql, sql } from "../../data/sql.ts";
import { useOpened } from "./opened.ts";
import { type EntryRow, type Step, stepsOf } from "./steps.ts";

/** Levels of calls that are unfolded within a journal, and entries of each journal below it. */
const [LEVELS_MAX, ENTRIES_MAX] = [8, 300];

/** A step in the list: of the invocation itself, or of one that it called. */
export interface Row {
  readonly id: string;
  readonly step: Step;
  /** How deep it is: 0 for the invocation itself. */
  readonly level: number;
  /** The invocation whose step it is, if it is another one. */
  readonly owner?: string;
  /** Whether the steps of what it calls are shown. Absent: it calls nothing that has steps to show. */
  readonly isOpen?: boolean;
}

/** Steps by the ids of their invocations. Those that are not read yet are absent. */
export type StepsById = ReadonlyMap<string, readonly Step[]>;

const CALLS = ["Call", "OneWayCall", "AttachInvocation"];

/** What was called by the rows that are open, by the ids of the rows. */
export type OpenRows = ReadonlyMap<string, string>;

/**
 * The rows of a list of steps, with the steps of the calls that are open behind each. `nested`: absent,
 * if none can be read.
 */
export function rowsOf(
  steps: readonly Step[],
  open: OpenRows,
  nested: StepsById | undefined,
  { level = 0, owner, prefix = "" }: {
    readonly level?: number;
    readonly owner?: string;
    readonly prefix?: string;
  } = {},
): Row[] {
  return steps.flatMap((step): Row[] => {
    const id = `${prefix}${step.index}`;
    const { callee, type } = step;
    const canOpen = nested !== undefined && callee !== undefined && CALLS.includes(type) &&
      level < LEVELS_MAX;
    const isOpen = canOpen && open.has(id);
    const row = { id, step, level, ...(owner && { owner }), ...(canOpen && { isOpen }) };
    if (!isOpen) return [row];
    const below = { level: level + 1, owner: callee, prefix: `${id}/` };
    return [row, ...rowsOf(nested.get(callee) ?? [], open, nested, below)];
  });
}

/** The steps of invocations that were called, without their values. Undefined of a file, which lacks them. */
export function useNested(open: OpenRows, everyMs: number): StepsById | undefined {
  const isFile = useOpened() !== undefined;
  const ids = [...new Set(open.values())].sort();
  const isOn = ids.length > 0 && !isFile;
  const { data } = useQuery<EntryRow & { readonly id: string }>(entriesOf(ids), { everyMs, isOn });
  return useMemo(() => {
    if (isFile) return undefined;
    const byId = Map.groupBy(isOn ? data ?? [] : [], ({ id }) => id);
    return new Map(
      [...byId].map(([id, rows]) => [id, stepsOf(rows, rows.length < ENTRIES_MAX)] as const),
    );
  }, [data, isOn, isFile]);
}

function entriesOf(ids: readonly string[]): Sql {
  return sql`SELECT id, index, entry_type, appended_at, entry_lite_json FROM sys_journal
    WHERE id IN ${ids} AND index < ${ENTRIES_MAX} ORDER BY id, index`;
}
