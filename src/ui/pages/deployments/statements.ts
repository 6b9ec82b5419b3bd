import { EVERY_MS, type Used, useQuery } from "../../data/hooks.ts";
import type { Int } from "../../data/json.ts";
import { sql } from "../../data/sql.ts";
import type { StatusColumns } from "../../widgets/status.tsx";

/** Invocations that have not ended, by the deployment that they are pinned to and where they stand. */
export interface Pinned extends StatusColumns {
  readonly id: string;
  readonly n: Int;
}

const PINNED = sql`
SELECT pinned_deployment_id AS id, status, count(*) AS n
FROM sys_invocation WHERE status <> 'completed' AND pinned_deployment_id IS NOT NULL
GROUP BY pinned_deployment_id, status`;

/** What is pinned to deployments. */
export function usePinned(): Used<Pinned[]> {
  return useQuery<Pinned>(PINNED, { everyMs: EVERY_MS.list });
}

/** The same of one deployment, by handler. */
export interface PinnedHandler extends StatusColumns {
  readonly service: string;
  readonly handler: string;
  readonly n: Int;
  readonly oldest: string;
}

/** What is pinned to a deployment, by handler. */
export function usePinnedTo(id: string): Used<PinnedHandler[]> {
  return useQuery<PinnedHandler>(
    sql`
SELECT target_service_name AS service, target_handler_name AS handler, status,
  count(*) AS n, min(created_at) AS oldest
FROM sys_invocation WHERE pinned_deployment_id = ${id} AND status <> 'completed'
GROUP BY target_service_name, target_handler_name, status
ORDER BY service, handler`,
    { everyMs: EVERY_MS.list },
  );
}
