import { query } from "../../../data/client.ts";
import { type Sql, sql, where } from "../../../data/sql.ts";
import { type Call, type CallTree, type Edge, TREE, windowOf } from "./tree.ts";

/** More calls than at first, by caller: how many of them are read. */
export type Widths = ReadonlyMap<string, number>;

/**
 * Reads the tree below an invocation level by level, each level by one statement. Stops at the bounds
 * of `TREE`; callers beyond them are not in `asked`. Throws `ApiError`.
 */
export async function readTree(root: Call, widths: Widths, signal: AbortSignal): Promise<CallTree> {
  const edges: Edge[] = [];
  const asked = new Set<string>();
  let callers: readonly Caller[] = [root];
  for (let level = 0; level < TREE.levelsMax && callers.length > 0; level++) {
    const room = TREE.rowsMax - edges.length;
    if (room <= 0) break;
    const found = await query<Edge>(levelOf(callers, widths, room), signal);
    // What did not fit may be all calls of the last callers: those count as not read.
    const isCut = found.length >= room;
    const seen = new Set(found.map(({ invoked_by_id: caller }) => caller));
    for (const { id } of callers) {
      if (!isCut || seen.has(id)) asked.add(id);
    }
    edges.push(...found);
    callers = found;
  }
  return { root, edges, asked, calls: await callsOf(edges.map(({ id }) => id), signal) };
}

type Caller = Pick<Edge, "id" | "created_at" | "completed_at">;

/** The first calls of each caller, oldest first, with how many there are. */
function levelOf(callers: readonly Caller[], widths: Widths, rowsMax: number): Sql {
  const ids = callers.map(({ id }) => id);
  const width = [...widths].filter(([caller]) => ids.includes(caller)).reduce(
    (others, [caller, count]) =>
      sql`CASE WHEN invoked_by_id = ${caller} THEN ${count} ELSE ${others} END`,
    sql`${TREE.childrenMax}`,
  );
  const { from, to } = windowOf(callers);
  const conditions = [
    sql`invoked_by_id IN ${ids}`,
    sql`created_at >= ${from}`,
    ...(to ? [sql`created_at <= ${to}`] : []),
  ];
  return sql`
SELECT id, invoked_by_id, created_at, completed_at, siblings
FROM (SELECT id, invoked_by_id, created_at, completed_at,
    row_number() OVER (PARTITION BY invoked_by_id ORDER BY created_at, id) AS place,
    count(*) OVER (PARTITION BY invoked_by_id) AS siblings
  FROM sys_invocation_status ${where(conditions)}) AS ranked
WHERE place <= ${width} ORDER BY invoked_by_id, created_at, id LIMIT ${rowsMax}`;
}

/** Everything else of these invocations, which is found by their ids. */
async function callsOf(ids: readonly string[], signal: AbortSignal) {
  if (ids.length === 0) return new Map<string, Call>();
  const rows = await query<Call>(
    sql`
SELECT id, target, status, completion_result, completion_failure, created_at, running_at,
  completed_at, retry_count, last_failure
FROM sys_invocation WHERE id IN ${ids}`,
    signal,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
