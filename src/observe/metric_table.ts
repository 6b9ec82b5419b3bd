import type { Exposition, Metric } from "./exposition.ts";

/**
 * Every metric of the page, in its order. The page takes type and help from here, and so does
 * docs/metrics.md. Names follow Prometheus: the unit at the end, totals since the process began.
 */
export const METRICS = {
  perdure_build_info: {
    type: "gauge",
    labels: ["version"],
    help: "Always 1; the version of the server.",
  },
  perdure_invocations_counted: {
    type: "gauge",
    labels: [],
    help: "Whether perdure_invocations is there: 0 while what a restart found is being counted.",
  },
  perdure_invocations: {
    type: "gauge",
    labels: ["service", "handler", "status"],
    help: "Invocations kept, by stored status.",
  },
  perdure_invocations_completed_total: {
    type: "counter",
    labels: ["service", "handler", "result"],
    help: "Invocations that got their result.",
  },
  perdure_invocation_duration_seconds: {
    type: "histogram",
    labels: ["service", "handler"],
    help: "Time from when an invocation was due to its result.",
  },
  perdure_invocation_waited_seconds_total: {
    type: "counter",
    labels: ["service", "handler", "cause"],
    help:
      "Time that invocations waited: for a lock, a limit (concurrency, rate), something paused, a " +
      "slot (invoker).",
  },
  perdure_paused: {
    type: "gauge",
    labels: ["kind"],
    help: "Services, deployments and virtual queues that are paused.",
  },
  perdure_requests_total: {
    type: "counter",
    labels: ["interface", "route", "status"],
    help: "Requests that were answered.",
  },
  perdure_attempts_started_total: {
    type: "counter",
    labels: ["service", "handler"],
    help: "Attempts that began.",
  },
  perdure_attempts_failed_total: {
    type: "counter",
    labels: ["service", "handler", "code"],
    help: "Attempts that failed, by error code.",
  },
  perdure_attempts_running: {
    type: "gauge",
    labels: [],
    help: "Attempts in flight.",
  },
  perdure_attempts_queued: {
    type: "gauge",
    labels: [],
    help: "Attempts that wait for a slot.",
  },
  perdure_turn_duration_seconds: {
    type: "histogram",
    labels: [],
    help: "Time to run a turn, loads not included.",
  },
  perdure_turn_events_total: {
    type: "counter",
    labels: [],
    help: "Events that turns took.",
  },
  perdure_turn_reruns_total: {
    type: "counter",
    labels: [],
    help: "Turns that were run again because a row was not in memory.",
  },
  perdure_commit_duration_seconds: {
    type: "histogram",
    labels: [],
    help: "Time until a commit was durable.",
  },
  perdure_commit_rows: {
    type: "histogram",
    labels: [],
    help: "Rows in a commit.",
  },
  perdure_partition_up: {
    type: "gauge",
    labels: [],
    help: "Whether the partition takes requests.",
  },
  perdure_partition_failures_total: {
    type: "counter",
    labels: [],
    help: "Times the partition had to restart.",
  },
  perdure_slot_disagreements_total: {
    type: "counter",
    labels: ["table"],
    help:
      "Damaged rows that a start of the partition met as it counted slots: of table invocation, whose " +
      "slots it did not count, and of table bank, which it corrected.",
  },
  perdure_waiting_requests: {
    type: "gauge",
    labels: [],
    help: "Requests that wait for an answer.",
  },
  perdure_mailbox_events: {
    type: "gauge",
    labels: [],
    help: "Events that no turn has taken yet.",
  },
  perdure_resident_bytes: {
    type: "gauge",
    labels: [],
    help: "Estimated size of the rows in memory.",
  },
  perdure_resident_timers: {
    type: "gauge",
    labels: [],
    help: "Timers in memory; later ones are on disk.",
  },
  perdure_log_pending_rows: {
    type: "gauge",
    labels: [],
    help: "Rows in the log and not in the tables yet.",
  },
  perdure_log_pending_bytes: {
    type: "gauge",
    labels: [],
    help: "Size of those rows in memory.",
  },
  perdure_kafka_ingress_requests_total: {
    type: "counter",
    labels: ["subscription", "topic", "partition"],
    help: "Records of Kafka that became invocations, those that came again included.",
  },
  perdure_kafka_ingress_replays_total: {
    type: "counter",
    labels: ["subscription", "topic", "partition"],
    help: "Records of Kafka that came again, and were dropped.",
  },
  perdure_kafka_ingress_poison_total: {
    type: "counter",
    labels: ["subscription", "topic", "partition"],
    help: "Batches that ended at a record that cannot become an invocation.",
  },
  perdure_kafka_ingress_full_total: {
    type: "counter",
    labels: ["subscription", "topic", "partition"],
    help: "Batches that were not taken whole, since too many invocations of the subscription wait.",
  },
  perdure_kafka_commit_failures_total: {
    type: "counter",
    labels: ["subscription"],
    help: "Commits of offsets to the broker that failed, as sidecars report them; records flow on.",
  },
  perdure_kafka_subscription_state: {
    type: "gauge",
    labels: ["subscription", "state"],
    help: "1 for the state that a subscription has; only where its sidecars report.",
  },
  perdure_kafka_position: {
    type: "gauge",
    labels: ["subscription", "topic", "partition"],
    help: "The next offset to read, as sidecars reported last.",
  },
  perdure_kafka_end: {
    type: "gauge",
    labels: ["subscription", "topic", "partition"],
    help: "The end of the partition of the topic.",
  },
  perdure_kafka_lag: {
    type: "gauge",
    labels: ["subscription", "topic", "partition"],
    help: "Records between position and end.",
  },
  perdure_database_bytes: {
    type: "gauge",
    labels: ["database"],
    help: "Size of a database file.",
  },
  perdure_database_wal_bytes: {
    type: "gauge",
    labels: ["database"],
    help: "Size of its write-ahead log file, whose space is used again.",
  },
  perdure_fleet_members: {
    type: "gauge",
    labels: [],
    help: "Processes of the fleet that live.",
  },
  perdure_fleet_members_unreached: {
    type: "gauge",
    labels: [],
    help: "Processes of the fleet that this one cannot reach.",
  },
  perdure_fleet_partitions: {
    type: "gauge",
    labels: ["address"],
    help: "Partitions that a process of the fleet owns.",
  },
  perdure_spans_exported_total: {
    type: "counter",
    labels: [],
    help: "Spans that the collector took.",
  },
  perdure_spans_dropped_total: {
    type: "counter",
    labels: [],
    help: "Spans that were lost on the way.",
  },
  perdure_event_loop_delay_seconds: {
    type: "histogram",
    labels: [],
    help: "How late the event loop came to a timer, measured ten times a second.",
  },
  perdure_process_start_time_seconds: {
    type: "gauge",
    labels: [],
    help: "When the process began, Unix time.",
  },
  perdure_process_cpu_seconds_total: {
    type: "counter",
    labels: [],
    help: "CPU time of all threads.",
  },
  perdure_process_resident_memory_bytes: {
    type: "gauge",
    labels: [],
    help: "Memory the system gave.",
  },
  perdure_process_heap_bytes: {
    type: "gauge",
    labels: [],
    help: "JavaScript objects, dead ones included.",
  },
  perdure_process_open_fds: {
    type: "gauge",
    labels: [],
    help: "Open file descriptors.",
  },
  perdure_process_max_fds: {
    type: "gauge",
    labels: [],
    help: "File descriptors the process may have.",
  },
  perdure_process_threads: {
    type: "gauge",
    labels: [],
    help: "Threads of the process.",
  },
  perdure_connections: {
    type: "gauge",
    labels: ["interface", "state"],
    help: "Open connections by state; interface endpoints: those to services.",
  },
  perdure_http2_streams: {
    type: "gauge",
    labels: ["interface"],
    help: "Open HTTP/2 streams.",
  },
  perdure_queued_bytes: {
    type: "gauge",
    labels: ["interface"],
    help: "Bytes written to connections and streams that the system has not taken yet.",
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** A page that takes these metrics and no others. */
export type Page = Exposition<keyof typeof METRICS>;
