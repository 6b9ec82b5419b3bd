import { query } from "../../../data/client.ts";
import { type Sql, sql } from "../../../data/sql.ts";
import { type Call, type CallTree, type Edge, TREE } from "./tree.ts";

/** More calls than at first, by caller: how many of them are read. */
export type Widths = ReadonlyMap<string, number>;

/**
 * Reads the tree below an invocation level by level, each level by one statement. Stops at the bounds
 * of `TREE`; callers beyond them are not in `asked`. Throws `ApiError`.
 */
export async function readTree(root: Call, widths: Widths, signal: AbortSignal): Promise<CallTree> {
  const edges: Edge[] = [];
  const asked = new Set<string>();
  let callers = [root.id];
  for (let level = 0; level < TREE.levelsMax && callers.length > 0; level++) {
    const room = TREE.rowsMax - edges.length;
    if (room <= 0) break;
    const found = await query<Edge>(levelOf(callers, widths, room), signal);
    // What did not fit may be all calls of the last callers: those count as not read.
    const isCut = found.length >= room;
    const seen = new Set(found.map(({ invoked_by_id: caller }) => caller));
    for (const caller of callers) {
      if (!isCut || seen.has(caller)) asked.add(caller);
    }
    edges.push(...found);
    callers = found.map(({ id }) => id);
  }
  return { root, edges, asked, calls: await callsOf(edges.map(({ id }) => id), signal) };
}

/** The first calls of each caller, oldest first, with how many there are. */
function levelOf(callers: readonly string[], widths: Widths, rowsMax: number): Sql {
  const wider = [...widths].filter(([caller]) => callers.includes(caller));
  const width = wider.reduce(
    (rest, [caller, count]) =>
      sql`CASE WHEN invoked_by_id = ${caller} THEN ${count} ELSE ${rest} END`,
    sql`${TREE.childrenMax}`,
  );
  return sql`
SELECT id, invoked_by_id, siblings FROM (SELECT id, invoked_by_id, created_at,
    row_number() OVER (PARTITION BY invoked_by_id ORDER BY created_at, id) AS place,
    count(*) OVER (PARTITION BY invoked_by_id) AS siblings
  FROM sys_invocation_status WHERE invoked_by_id IN ${callers}) AS ranked
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
