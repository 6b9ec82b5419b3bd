import { checkDeploymentId } from "../model/id.ts";
import type { Introspection } from "../query_port.ts";

/**
 * Counts the invocations that are not completed and pinned to a deployment. Rejects with a `Failure`
 * as a query does, when it takes too long or there are too many at once.
 */
export function countPinned(
  introspection: Pick<Introspection, "query">,
  version: string,
): (id: string) => Promise<number> {
  return async (id) => {
    const sql = "SELECT count(*) AS pinned FROM sys_invocation_status " +
      `WHERE pinned_deployment_id = '${checkDeploymentId(id)}' AND status <> 'completed'`;
    const stream = await introspection.query({ sql, format: "json", version, running: [] });
    const { rows } = await new Response(stream).json() as {
      readonly rows: readonly { readonly pinned: number }[];
    };
    return rows[0]?.pinned ?? 0;
  };
}
