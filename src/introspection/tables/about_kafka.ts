import type { TableNotes } from "./about.ts";

/** What docs/sql.md says of the tables of `kafka_tables.ts`. */
export const kafkaNotes: Readonly<Record<string, TableNotes>> = {
  sys_kafka_cluster: {
    rows: "Each Kafka cluster.",
    columns: {
      name: "Its name.",
      properties: "JSON of its properties, without secrets.",
      created_at: "When it was created.",
    },
  },
  sys_subscription: {
    rows: "Each [subscription](kafka.md), and how it is by what sidecars report.",
    columns: {
      id: "Its id.",
      source: "Where its records come from: `kafka://CLUSTER/TOPIC`.",
      sink: "What they call: `service://SERVICE/HANDLER`.",
      cluster: "Name of the Kafka cluster in the source.",
      topic: "Topic in the source; from `^` on a regular expression over topics.",
      service_name: "Service in the sink.",
      handler_name: "Handler in the sink.",
      group_id: "Its consumer group.",
      options: "JSON of its options, without secrets.",
      paused: "Whether an operator has paused it.",
      state: "How it is.",
      last_error: "The last error of consuming it.",
      last_error_at: "When that was.",
      created_at: "When it was created.",
    },
  },
  sys_subscription_partition: {
    rows: "Each partition of a topic that a sidecar reads for a subscription, up to 10 s old.",
    columns: {
      subscription_id: "Id of the subscription.",
      topic: "Name of the topic.",
      partition: "Number of the partition.",
      position: "The next offset to read.",
      end_offset: "The end of the partition.",
      lag: "Records between position and end.",
      stopped_by: "Why it stands at its position: a record that cannot be delivered, a full inbox.",
      stopped_message: "That in words.",
      sidecar: "Name of the sidecar that reads it.",
      reported_at: "When that sidecar was last heard of.",
    },
  },
};
