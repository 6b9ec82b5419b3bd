const FILTERS = "service_name = 'Greeter' AND num_inbox > 0";
const OF_OBJECT = "service_name = 'Cart' AND lock_name = 'Cart/held' AND scope IS NULL";
const ENTRY = "entry_kind = 'invocation'";
const QUEUE = "vq_17O4rBTtURe97mysUmWM4Bpb9SfrBYRSgu";
const INVOCATION = "inv_1gdJBtdVEcM90b5Gp4Dz0OdFxN5yXW4Bpx";
const UNFINISHED = "(num_inbox + num_running + num_suspended + num_paused)";

/**
 * What the UI and the command line of the reference send where virtual queues are enabled, by the
 * catalogue of the UI and the texts of the program (docs/spec/queries.md#statements).
 */
export const flowStatements: readonly string[] = [
  `WITH active AS (SELECT deployment_id FROM sys_service WHERE deployment_id IS NOT NULL UNION
    SELECT deployment FROM sys_vqueues WHERE ${ENTRY} AND stage != 'finished')
    SELECT id FROM sys_deployment EXCEPT SELECT deployment_id FROM active`,
  `SELECT COUNT(*) AS n FROM sys_vqueues WHERE id = '${QUEUE}' AND sequence_number < 7`,
  `SELECT ${UNFINISHED} AS total FROM sys_vqueue_meta WHERE service_name = 'Cart'
    AND lock_name = 'Cart/held' AND is_active = true`,
  `SELECT id, sequence_number FROM sys_vqueues WHERE entry_id = '${INVOCATION}'`,
  `SELECT COUNT(1) AS n FROM (SELECT id FROM sys_vqueue_meta WHERE ${FILTERS} LIMIT 100001)`,
  `SELECT entry_id, stage, status FROM sys_vqueue_entry_status WHERE entry_id IN ('${INVOCATION}')
    AND ${ENTRY}`,
  `SELECT entry_id FROM sys_vqueues WHERE id IN (SELECT id FROM sys_vqueue_meta WHERE ${FILTERS}
    LIMIT 100000) AND ${ENTRY} AND stage = 'inbox' ORDER BY created_at DESC NULLS LAST LIMIT 1000`,
  `SELECT status, COUNT(1) AS n FROM sys_vqueues WHERE stage = 'finished' AND ${ENTRY}
    AND transitioned_at >= '2026-11-20T15:00:00.000Z' GROUP BY status`,
  `SELECT to_unixtime(date_bin(INTERVAL '300 seconds', transitioned_at,
    TIMESTAMP '1970-01-01T00:00:00')) AS bucket,
    COUNT(1) FILTER (WHERE status = 'succeeded') AS succeeded,
    COUNT(1) FILTER (WHERE status = 'killed') AS killed FROM sys_vqueues
    WHERE stage = 'finished' AND ${ENTRY} AND transitioned_at >= '2026-11-20T15:00:00.000Z'
    GROUP BY bucket`,
  `SELECT COUNT(1) AS total, SUM(CASE WHEN first_runnable_at <= '2026-11-20T15:00:00.000Z'
    THEN 1 ELSE 0 END) AS due FROM sys_vqueues WHERE id IN (SELECT id FROM sys_vqueue_meta
    WHERE service_name IN ('Greeter') AND num_inbox > 0 LIMIT 100000) AND stage = 'inbox'
    AND ${ENTRY}`,
  `SELECT service_name, SUM(num_inbox) AS inbox, SUM(num_running) AS running,
    SUM(num_suspended) AS suspended, SUM(num_paused) AS paused, SUM(num_finished) AS finished
    FROM sys_vqueue_meta WHERE is_active = true GROUP BY service_name`,
  `SELECT scope, l1, l2, level, usage, concurrency_limit, rule_pattern, available, num_waiters
    FROM sys_user_limits WHERE rule_pattern IS NOT NULL AND scope ILIKE '%a%'
    ORDER BY (concurrency_limit IS NULL) ASC,
    COALESCE(CAST(usage AS DOUBLE) / concurrency_limit, 0) DESC NULLS LAST, scope ASC LIMIT 1001`,
  `SELECT rule_pattern, COUNT(*) AS n, SUM(CASE WHEN num_waiters > 0 THEN 1 ELSE 0 END) AS waiting
    FROM sys_user_limits WHERE rule_pattern IN ('a', '*') GROUP BY rule_pattern`,
  `SELECT lock_name, scope, SUM(num_inbox) AS backlog FROM sys_vqueue_meta
    WHERE service_name = 'Cart' AND num_inbox > 0 GROUP BY lock_name, scope
    ORDER BY backlog DESC, lock_name, scope LIMIT 51`,
  `SELECT DISTINCT partition_key, lock_name, scope FROM sys_vqueue_meta WHERE service_name = 'Cart'
    AND (num_inbox > 0 OR num_running > 0 OR num_suspended > 0 OR num_paused > 0) LIMIT 51`,
  `SELECT acquired_by, acquired_at FROM sys_locks WHERE lock_name = 'Cart/held' AND scope IS NULL
    AND acquired_by IS NOT NULL LIMIT 1`,
  `SELECT entry_id, stage, status, has_lock, run_at FROM sys_vqueues WHERE id IN
    (SELECT id FROM sys_vqueue_meta WHERE ${OF_OBJECT} AND num_inbox > 0 LIMIT 250)
    AND stage = 'inbox' ORDER BY run_at ASC NULLS LAST LIMIT 26`,
  `SELECT MIN(transitioned_at) AS oldest FROM sys_vqueues WHERE id IN (SELECT id
    FROM sys_vqueue_meta WHERE ${OF_OBJECT} AND num_inbox > 0) AND stage = 'inbox'`,
  `SELECT COUNT(last_attempt_at) AS n,
    MIN(CASE WHEN last_attempt_at IS NOT NULL THEN avg_inbox_duration END) AS least,
    SUM(num_inbox) AS inbox, MAX(last_enqueued_at) AS latest FROM sys_vqueue_meta
    WHERE ${OF_OBJECT}`,
  `SELECT position FROM (SELECT entry_id, ROW_NUMBER() OVER (ORDER BY has_lock DESC, run_at,
    sequence_number, entry_id) AS position FROM sys_vqueues WHERE id = '${QUEUE}'
    AND stage = 'inbox') WHERE entry_id = '${INVOCATION}'`,
  `SELECT id FROM sys_vqueue_meta WHERE ${UNFINISHED} = 0 AND (queue_is_paused OR
    GREATEST(last_enqueued_at, last_start_at, last_finish_at) > now() - INTERVAL '24 hours')
    LIMIT 251`,
  `SELECT * FROM sys_vqueue_meta WHERE id IN ('${QUEUE}') ORDER BY ${UNFINISHED} DESC, id`,
  `SELECT s.id, s.status, s.blocked_on, s.blocked_on_json, h.status AS head, h.created_at
    FROM sys_scheduler s LEFT JOIN sys_vqueue_entry_status h ON h.vqueue_id = s.id
    AND h.entry_id = s.head_entry_id WHERE s.id = '${QUEUE}'`,
  `SELECT id, COUNT(*) AS workload FROM sys_vqueues WHERE stage IN ('inbox', 'running',
    'suspended', 'paused') GROUP BY id ORDER BY workload DESC LIMIT 251`,
  `SELECT stage, transitioned_at, first_attempt_at, first_runnable_at FROM sys_vqueue_entry_status
    WHERE entry_id = '${INVOCATION}' AND ${ENTRY} LIMIT 1`,
  `SELECT id, is_active, queue_is_paused, service_name, scope, limit_key, lock_name, created_at,
    last_enqueued_at, last_start_at, last_attempt_at, last_finish_at, num_inbox, num_running,
    num_suspended, num_paused, num_finished FROM sys_vqueue_meta LIMIT 100`,
  `SELECT entry_id, entry_kind, stage, status, has_lock, created_at, num_attempts, deployment
    FROM sys_vqueues WHERE id = '${QUEUE}' ORDER BY created_at DESC LIMIT 100`,
];
