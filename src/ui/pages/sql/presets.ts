export interface Preset {
  readonly title: string;
  readonly text: string;
}

/** Questions that come up often. */
export const PRESETS: readonly Preset[] = [
  {
    title: "Open invocations by service and status",
    text: `SELECT target_service_name, status, count(*) AS n, min(created_at) AS oldest
FROM sys_invocation
WHERE status <> 'completed'
GROUP BY target_service_name, status
ORDER BY n DESC`,
  },
  {
    title: "What retries, the most attempts first",
    text: `SELECT id, target, retry_count, next_retry_at, last_failure
FROM sys_invocation
WHERE status = 'backing-off'
ORDER BY retry_count DESC
LIMIT 50`,
  },
  {
    title: "Oldest open invocations",
    text: `SELECT id, target, status, created_at
FROM sys_invocation
WHERE status <> 'completed'
ORDER BY created_at
LIMIT 50`,
  },
  {
    title: "Keys with the longest queues",
    text: `SELECT service_name, service_key, count(*) AS waiting
FROM sys_inbox
GROUP BY service_name, service_key
ORDER BY waiting DESC
LIMIT 50`,
  },
  {
    title: "Failures of the last hour",
    text: `SELECT target_service_name, completion_failure, count(*) AS n
FROM sys_invocation
WHERE completion_result = 'failure' AND completed_at > now() - INTERVAL '1 hour'
GROUP BY target_service_name, completion_failure
ORDER BY n DESC`,
  },
  {
    title: "Slowest of the last hour",
    text: `SELECT id, target,
  CAST(completed_at AS BIGINT) - CAST(created_at AS BIGINT) AS ms
FROM sys_invocation
WHERE status = 'completed' AND completed_at > now() - INTERVAL '1 hour'
ORDER BY ms DESC
LIMIT 50`,
  },
  {
    title: "Open invocations by deployment",
    text: `SELECT pinned_deployment_id, target_service_name, count(*) AS n
FROM sys_invocation
WHERE status <> 'completed'
GROUP BY pinned_deployment_id, target_service_name
ORDER BY n DESC`,
  },
  {
    title: "Longest journals",
    text: `SELECT id, target, status, journal_size
FROM sys_invocation
ORDER BY journal_size DESC NULLS LAST
LIMIT 50`,
  },
  {
    title: "Largest values of state",
    text: `SELECT service_name, service_key, key, value_length
FROM state
ORDER BY value_length DESC
LIMIT 50`,
  },
];
