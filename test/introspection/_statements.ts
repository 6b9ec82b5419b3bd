import type { Filled } from "./_filled.ts";

/** What the statements name of the rows that `_filled.ts` leaves behind. */
export interface Names {
  readonly invocation: string;
  readonly other: string;
  readonly deployment: string;
}

/** Names for the statements, out of what is there. */
export async function namesOf(filled: Pick<Filled, "rows">): Promise<Names> {
  const [row] = await filled.rows(
    `SELECT id, pinned_deployment_id AS d FROM sys_invocation WHERE target = 'Greeter/all'`,
  );
  const invocation = String(row?.["id"]);
  return { invocation, other: invocation, deployment: String(row?.["d"]) };
}

const LIST = `id, target, target_service_name, target_service_key, target_handler_name,
  target_service_ty, idempotency_key, invoked_by, invoked_by_id, invoked_by_subscription_id,
  invoked_by_target, restarted_from, pinned_deployment_id, pinned_service_protocol_version,
  journal_size, journal_commands_size, created_at, modified_at, inboxed_at, scheduled_at,
  scheduled_start_at, running_at, completed_at, completion_retention, journal_retention,
  retry_count, last_start_at, next_retry_at, last_attempt_deployment_id, last_attempt_server,
  last_failure, last_failure_error_code, status, completion_result, completion_failure`;
const DETAIL = `invoked_by_service_name, trace_id, created_using_restate_version,
  last_failure_related_entry_index, last_failure_related_entry_name,
  last_failure_related_entry_type, last_failure_related_command_index,
  last_failure_related_command_name, last_failure_related_command_type`;
const bucket = (of: string) =>
  `CASE WHEN ${of}.status = 'inboxed' THEN 'pending'
    WHEN ${of}.status = 'invoked' AND sis.in_flight THEN 'running'
    WHEN ${of}.status = 'invoked' AND sis.in_flight IS NOT TRUE AND sis.retry_count > 0 THEN 'backing-off'
    WHEN ${of}.status = 'invoked' THEN 'ready'
    WHEN ${of}.status = 'completed' AND ${of}.completion_result = 'success' THEN 'succeeded'
    WHEN ${of}.status = 'completed' THEN 'failed'
    ELSE ${of}.status END`;
const STATE = `(SELECT id AS state_id, in_flight, retry_count FROM sys_invocation_state) sis
  ON sis.state_id = ss.id`;
const HELD_UP = `ss.status IN ('inboxed','invoked','paused') AND ((ss.status = 'inboxed') OR
  (ss.status = 'invoked' AND sis.in_flight IS NOT TRUE AND sis.retry_count > 0) OR
  (ss.status = 'paused') OR
  (ss.status = 'invoked' AND sis.in_flight IS NOT TRUE AND COALESCE(sis.retry_count,0) = 0))`;
const FAILED = `ss.status IN ('completed') AND (((ss.status = 'completed' AND
  ss.completion_result = 'failure' AND COALESCE(LOWER(ss.completion_failure), '') NOT IN
  ('[409] killed','[409] canceled','[409] cancelled'))))`;
const HOUR_AGO = new Date(Date.now() - 3_600_000).toISOString();

/** Overview, lists and pages of the reference's UI (docs/spec/queries.md#statements). */
export const uiStatements = ({ invocation, other }: Names): readonly string[] => [
  "SELECT 1 FROM sys_invocation_status LIMIT 1",
  `SELECT ss.target_service_name AS service_name, ${bucket("ss")} AS bucket, COUNT(1) AS count
    FROM sys_invocation_status ss LEFT JOIN sys_invocation_state sis ON sis.id = ss.id
    WHERE ss.created_at > '${HOUR_AGO}' GROUP BY ss.target_service_name, ${bucket("ss")}`,
  `SELECT ss.target_service_name AS service_name, ${bucket("ss")} AS bucket, COUNT(1) AS count
    FROM sys_invocation_status ss LEFT JOIN sys_invocation_state sis ON sis.id = ss.id
    WHERE ss.target_service_name IN ('Greeter') GROUP BY service_name, bucket`,
  `WITH active_deployments AS (SELECT DISTINCT deployment_id AS id FROM sys_service
    WHERE deployment_id IS NOT NULL UNION SELECT DISTINCT pinned_deployment_id AS id
    FROM sys_invocation_status WHERE pinned_deployment_id IS NOT NULL AND status != 'completed')
    SELECT d.id AS id FROM sys_deployment d EXCEPT SELECT id FROM active_deployments`,
  "SELECT id FROM sys_invocation_state WHERE in_flight IS TRUE LIMIT 250",
  "SELECT ss.id AS id FROM sys_invocation_status ss ORDER BY ss.created_at DESC LIMIT 250",
  `SELECT ss.id AS id FROM sys_invocation_status ss LEFT JOIN ${STATE}
    WHERE ${HELD_UP} ORDER BY ss.created_at ASC LIMIT 250`,
  `SELECT ${LIST} FROM sys_invocation i WHERE i.id IN ('${invocation}', '${other}')
    ORDER BY i.created_at DESC NULLS LAST`,
  `SELECT sampled_invocations.target_service_name AS service_name,
    ${bucket("sampled_invocations")} AS bucket, COUNT(1) AS count
    FROM (SELECT id, target_service_name, status, completion_result FROM sys_invocation_status
    LIMIT 1000000) sampled_invocations
    LEFT JOIN sys_invocation_state sis ON sis.id = sampled_invocations.id
    GROUP BY sampled_invocations.target_service_name, ${bucket("sampled_invocations")}`,
  `SELECT ss.id AS id FROM sys_invocation_status ss WHERE ${FAILED}
    ORDER BY ss.created_at DESC LIMIT 250`,
  `SELECT SUM(CASE WHEN status='inboxed' THEN 1 ELSE 0 END) AS inboxed,
    SUM(CASE WHEN status='scheduled' THEN 1 ELSE 0 END) AS scheduled,
    SUM(CASE WHEN status='invoked' THEN 1 ELSE 0 END) AS invoked FROM sys_invocation_status
    WHERE status IN ('inboxed','scheduled','invoked') AND target_service_name IN ('Greeter')`,
  `SELECT SUM(CASE WHEN sis.in_flight THEN 1 ELSE 0 END) AS running,
    SUM(CASE WHEN sis.in_flight IS NOT TRUE AND sis.retry_count > 0 THEN 1 ELSE 0 END) AS backing_off
    FROM sys_invocation_state sis JOIN sys_invocation_status ss ON ss.id = sis.id
    WHERE ss.target_service_name IN ('Greeter')`,
];

/** One invocation, and actions on many, in the UI. */
export const pageStatements = ({ invocation }: Names): readonly string[] => [
  `SELECT ${LIST}, ${DETAIL} FROM sys_invocation WHERE id = '${invocation}'`,
  `SELECT id, index, appended_at, entry_type, name, raw_length, entry_lite_json, version,
    completed, sleep_wakeup_at, invoked_id, invoked_target, promise_name
    FROM sys_journal WHERE id = '${invocation}' ORDER BY index`,
  `SELECT after_journal_entry_index, appended_at, event_type, event_json from sys_journal_events
    WHERE id = '${invocation}' ORDER BY appended_at`,
  `SELECT id, status, completion_result, completion_failure, pinned_deployment_id,
    last_attempt_deployment_id, target_service_name, target_service_key, target_handler_name
    FROM sys_invocation WHERE id IN ('${invocation}')`,
  `SELECT entry_type, entry_json, raw FROM sys_journal WHERE id = '${invocation}' AND index = 4`,
  `SELECT id, appended_at, event_type, event_json FROM sys_journal_events
    WHERE id = '${invocation}' AND event_type = 'Paused' ORDER BY appended_at DESC LIMIT 1`,
  `SELECT COUNT(1) AS total_count FROM (SELECT ss.id FROM sys_invocation_status ss
    LEFT JOIN ${STATE} WHERE ${HELD_UP} LIMIT 50000) sampled`,
  `SELECT ss.id AS id, ss.created_at AS created_at FROM sys_invocation_status ss
    LEFT JOIN ${STATE} WHERE ${HELD_UP} AND ss.created_at > '${HOUR_AGO}'
    ORDER BY ss.created_at ASC LIMIT 1000`,
];

/** State, objects and workflows in the UI (docs/spec/queries.md#statements). */
export const objectStatements: readonly string[] = [
  `SELECT DISTINCT service_key FROM state WHERE "service_name" = 'Cart' LIMIT 301`,
  `SELECT DISTINCT service_key FROM state WHERE "service_name" = 'Cart' AND "key" = 'total'
    AND "value" = '2' LIMIT 301`,
  `SELECT service_key, key, value_length, value FROM state WHERE service_name = 'Cart'
    AND service_key IN ('alice', 'held') AND value_length <= 2048 LIMIT 1500`,
  `SELECT key, value_length, CASE WHEN value_length <= 65536 THEN value END AS value FROM state
    WHERE service_name = 'Cart' AND service_key = 'alice' AND key > 'a' ORDER BY key LIMIT 101`,
  "SELECT key, value FROM state WHERE service_name = 'Cart' AND service_key = 'alice'",
  `SELECT service_name, COALESCE(SUM(value_length), 0) AS size FROM state
    GROUP BY service_name ORDER BY service_name`,
  `SELECT DISTINCT target_service_key AS object_key FROM sys_invocation_status
    WHERE target_service_name = 'Cart' AND target_service_ty = 'virtual_object'
    AND target_service_key IS NOT NULL AND status <> 'completed' LIMIT 51`,
  `SELECT service_key AS object_key, invocation_id AS acquired_by FROM sys_keyed_service_status
    WHERE service_name = 'Cart' AND invocation_id IS NOT NULL
    AND ((service_key = 'carol') OR (service_key = 'held'))`,
  `SELECT service_key AS object_key, COUNT(*) AS backlog FROM sys_inbox WHERE service_name = 'Cart'
    AND ((service_key = 'carol') OR (service_key = 'held')) GROUP BY service_key`,
  `SELECT invocation_id FROM sys_keyed_service_status WHERE service_name = 'Cart'
    AND service_key = 'held' AND invocation_id IS NOT NULL LIMIT 1`,
  `SELECT si.id FROM sys_invocation_status si WHERE si.target_service_ty = 'virtual_object'
    AND si.target_service_name = 'Cart' ORDER BY si.created_at DESC NULLS LAST LIMIT 51`,
  "SELECT id FROM sys_inbox WHERE service_name = 'Cart' AND service_key = 'held' LIMIT 26",
  `SELECT COUNT(*) AS inbox_count FROM sys_inbox
    WHERE service_name = 'Cart' AND service_key = 'held'`,
  `SELECT id FROM sys_invocation_status WHERE target_service_name = 'Signup'
    AND target_service_ty = 'workflow' AND target_handler_name = 'run'
    AND target_service_key IS NOT NULL ORDER BY created_at DESC NULLS LAST LIMIT 51`,
  `SELECT id FROM sys_invocation_status WHERE target_service_name = 'Signup'
    AND target_service_key = 'u1' AND target_handler_name <> 'run'
    ORDER BY created_at DESC NULLS LAST LIMIT 51`,
];

/** What the command line client sends (docs/spec/queries.md#dialect). */
export const cliStatements = ({ deployment, invocation }: Names): readonly string[] => [
  `SELECT COUNT(1) AS inv_count FROM sys_invocation_status
    WHERE pinned_deployment_id = '${deployment}' AND status != 'completed'`,
  `SELECT target_service_name, target_handler_name, COUNT(1) AS count FROM sys_invocation_status
    WHERE status == 'inboxed' GROUP BY target_service_name, target_handler_name`,
  `SELECT ss.target_service_name, ss.status, COUNT(1), MIN(ss.created_at),
    FIRST_VALUE(ss.id ORDER BY ss.created_at ASC), first_value(ss.id)
    FROM sys_invocation_status ss WHERE ss.status != 'completed'
    GROUP BY ss.target_service_name, ss.status ORDER BY ss.target_service_name`,
  "SELECT service_name, COUNT(1) FROM sys_inbox GROUP BY service_name",
  "SELECT service_name, service_key, invocation_id FROM sys_keyed_service_status",
  `SELECT inv.id FROM sys_invocation inv WHERE inv.status IN ('running', 'backing-off')
    ORDER BY inv.created_at DESC, inv.id LIMIT 100`,
  `SELECT COUNT(1) FROM (SELECT * FROM sys_invocation inv LIMIT 50000)
    WHERE inv.target_service_name IN ('Cart')`,
  `SELECT inv.id, inv.target, inv.target_service_name, inv.status, inv.retry_count,
    inv.in_flight_is, dp.id IS NOT NULL as pinned_deployment_exists
    FROM (SELECT *, status = 'running' AS in_flight_is FROM sys_invocation) inv
    LEFT JOIN sys_deployment dp ON dp.id = inv.pinned_deployment_id
    WHERE inv.id IN ('${invocation}')`,
  `SELECT COUNT(*) FROM information_schema.columns
    WHERE table_name = 'sys_journal' AND column_name = 'entry_json'`,
  `SELECT COUNT(1) FROM information_schema.columns
    WHERE table_name = 'sys_invocation' AND column_name = 'created_using_restate_version'`,
  `SELECT sj.index, sj.entry_type, sj.completed, sj.invoked_id, sj.invoked_target,
    sj.sleep_wakeup_at, sj.name, sj.promise_name, sj.appended_at, sj.version, sj.entry_json
    FROM sys_journal sj WHERE sj.id = '${invocation}' ORDER BY index DESC LIMIT 100`,
  `SELECT id, target FROM sys_invocation_status WHERE
    ((target = 'Greeter/all' AND target_service_ty = 'service') OR
    (target LIKE 'Cart/held/%' AND target_service_ty != 'service')) AND status != 'completed'
    LIMIT 500`,
  "select key, value from state where service_name = 'Cart' and service_key = 'alice' ;",
  "SELECT pattern, concurrency, description, disabled, version, last_modified FROM sys_rules",
  `SELECT id, service_name, scope, limit_key, lock_name, num_inbox, num_running, is_active,
    avg_queue_duration FROM sys_vqueue_meta ORDER BY id`,
  "SELECT entry_id, stage, status, run_at FROM sys_vqueues ORDER BY has_lock DESC, run_at ASC",
];

/**
 * Constructs of docs/spec/queries.md#dialect, and the catalogue of statements that were not
 * recorded.
 */
export const otherStatements: readonly string[] = [
  "SELECT COUNT(1) FILTER (WHERE status = 'completed') AS done FROM sys_invocation",
  `SELECT date_bin(INTERVAL '300 seconds', completed_at, TIMESTAMP '1970-01-01T00:00:00') AS bin,
    to_unixtime(date_bin(INTERVAL '300 seconds', completed_at, TIMESTAMP '1970-01-01T00:00:00')) AS at,
    COUNT(1) AS count FROM sys_invocation_status WHERE completed_at IS NOT NULL
    AND completed_at >= now() - INTERVAL '24 hours' GROUP BY bin, at ORDER BY bin`,
  `SELECT target_service_name, substr(last_failure, 1, 20) AS msg, count(*) FROM sys_invocation
    WHERE last_failure IS NOT NULL GROUP BY target_service_name, msg`,
  `SELECT event_json ->> 'error_message' AS message FROM sys_journal_events
    WHERE event_type = 'TransientError' AND appended_at > now() - INTERVAL '1 hour'`,
  "SELECT id FROM sys_journal_events WHERE event_json ->> 'error_message' LIKE '%upstream%'",
  "SELECT service_key FROM state WHERE service_name = 'Cart' AND value LIKE '%2%'",
  "SELECT id FROM sys_invocation WHERE target ILIKE '%GREET%' AND target NOT ILIKE '%100\\%%'",
  "SELECT id FROM sys_invocation WHERE target LIKE '%Greet%' AND target NOT LIKE '%x%'",
  `SELECT scope, COALESCE(CAST(usage AS DOUBLE) / concurrency_limit, 0) FROM sys_user_limits
    ORDER BY (concurrency_limit IS NULL) ASC,
    COALESCE(CAST(usage AS DOUBLE) / concurrency_limit, 0) DESC NULLS LAST`,
  "SELECT CAST(partition_key AS VARCHAR) AS pk FROM sys_invocation_status",
  "SELECT id FROM sys_invocation_status WHERE id IN (SELECT id FROM sys_inbox LIMIT 100000)",
  `SELECT id FROM sys_invocation_status WHERE pinned_deployment_id NOT IN
    (select id from sys_deployment)`,
  "SELECT GREATEST(created_at, modified_at, completed_at) AS latest FROM sys_invocation",
  "SELECT s.name, d.id FROM sys_service s CROSS JOIN sys_deployment d",
  `SELECT entry_id, ROW_NUMBER() OVER (ORDER BY has_lock DESC, run_at ASC, sequence_number ASC)
    AS position FROM sys_vqueues`,
  "SELECT id, ROW_NUMBER() OVER (PARTITION BY status ORDER BY created_at) AS n FROM sys_invocation",
  `SELECT status, AVG(journal_size), SUM(journal_size), MAX(created_at) - MIN(created_at) AS span
    FROM sys_invocation_status GROUP BY 1 HAVING COUNT(*) > 0 ORDER BY 2 DESC`,
  "SELECT id, raw_length FROM sys_journal WHERE raw_length > 10 ORDER BY raw_length DESC LIMIT 20",
  "SELECT scope, lock_name, acquired_at, acquired_by FROM sys_locks WHERE scope IS NULL",
  `SELECT key, completed, completion_success_value_utf8, completion_failure FROM sys_promise
    WHERE service_name = 'Signup' AND service_key = 'u1' AND scope IS NULL`,
  "SELECT status, blocked_on, lock_block_duration FROM sys_scheduler",
  "SELECT stage, num_attempts, total_blocked_on_lock FROM sys_vqueue_entry_status",
  "SHOW TABLES",
  "SHOW COLUMNS FROM state",
  "DESCRIBE sys_invocation",
  "EXPLAIN SELECT * FROM sys_invocation",
  "select version()",
  "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
];

/** Conditions, orders and limits that are pushed down to a remote database, and some that are not. */
export const conditionStatements: readonly string[] = [
  "select id, target from sys_invocation order by created_at desc, id limit 5",
  "select id from sys_invocation_status order by id limit 3 offset 4",
  "select id, status from sys_invocation where journal_size > 1 order by journal_size, id limit 4",
  "select id from sys_invocation where created_at > now() - interval '1 hour' order by id limit 7",
  "select target from sys_invocation where retry_count is not null or status = 'paused' order by id",
  "select i.target, s.retry_count from sys_invocation_status i left join sys_invocation_state s " +
  "on s.id = i.id where s.retry_count is null and i.target_service_name <> 'Cart' order by i.id",
  "select i.target from sys_invocation_status i left join sys_invocation_state s on s.id = i.id " +
  "where s.retry_count >= 1 order by i.id",
  "select target from sys_invocation i where journal_size between 1 and 5 and not exists " +
  "(select 1 from sys_inbox b where i.status = 'completed' and b.id = i.id) order by id",
  "select key, value from state where value = '2' or value = '3' order by service_key, key limit 2",
  "select key from state where value_utf8 = '2' order by service_key, key",
  "select service_key from state where key <> 'total' order by key desc, service_key limit 1",
  "select j.index, j.entry_type from sys_journal j where j.raw_length > 20 order by j.id, j.index",
  "select partition_key from sys_invocation_status where partition_key > 5 order by partition_key " +
  "limit 6",
];
