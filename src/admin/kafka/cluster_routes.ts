import { ref } from "../openapi/answers.ts";
import { force, includeSubscriptions } from "../parameter.ts";
import type { Registry } from "../registry.ts";
import { empty, reply } from "../reply.ts";
import { type Call, type RouteDoc, type Routes, withBody } from "../route.ts";
import { clusterBody, newClusterBody } from "./kafka_body.ts";
import { clusterRecord, subscriptionRecord } from "./kafka_records.ts";

const tag = "kafka_cluster";

const LIST: RouteDoc = {
  id: "list_kafka_clusters",
  tag,
  summary: "List Kafka clusters by name",
  answers: { 200: ["All Kafka clusters", ref("ListKafkaClusters")] },
};
const CREATE: RouteDoc = {
  id: "create_kafka_cluster",
  tag,
  summary: "Create a Kafka cluster; no broker is asked",
  answers: { 201: ["Created", ref("SimpleKafkaCluster")] },
  refusals: [409, 503],
};
const SHOW: RouteDoc = {
  id: "get_kafka_cluster",
  tag,
  summary: "Show one Kafka cluster",
  query: [includeSubscriptions],
  answers: { 200: ["The Kafka cluster", ref("KafkaCluster")] },
  refusals: [404],
};
const UPDATE: RouteDoc = {
  id: "update_kafka_cluster",
  tag,
  summary: "Replace the properties of a Kafka cluster; its subscriptions connect anew",
  answers: { 200: ["The Kafka cluster as it is now", ref("SimpleKafkaCluster")] },
  refusals: [404, 503],
};
const DELETE: RouteDoc = {
  id: "delete_kafka_cluster",
  tag,
  summary: "Delete a Kafka cluster",
  query: [force],
  answers: { 202: ["Deleted"] },
  refusals: [404, 409, 503],
};

/** The routes of Kafka clusters (docs/spec/admin.md#kafka-clusters). */
export function clusterRoutes({ registry }: { readonly registry: Registry }): Routes {
  const { kafka } = registry;
  return {
    "/kafka-clusters": {
      GET: { ...LIST, handle: () => reply(200, { clusters: kafka.clusters().map(clusterRecord) }) },
      POST: withBody(CREATE, newClusterBody, async (_call, { name, properties }) => {
        const cluster = await kafka.createCluster(name, properties);
        return reply(201, clusterRecord(cluster), { location: `kafka-clusters/${name}` });
      }),
    },
    "/kafka-clusters/:cluster_name": {
      GET: { ...SHOW, handle: (call) => show(registry, call) },
      PATCH: withBody(UPDATE, clusterBody, async (call, { properties }) => {
        return reply(200, clusterRecord(await kafka.updateCluster(nameOf(call), properties)));
      }),
      DELETE: {
        ...DELETE,
        handle: async (call) => {
          await kafka.removeCluster(nameOf(call), force.read(call));
          return empty(202);
        },
      },
    },
  };
}

function show(registry: Registry, call: Call): Response {
  const { kafka } = registry;
  const cluster = kafka.cluster(nameOf(call));
  const shown = includeSubscriptions.read(call) ? kafka.subscriptions(cluster.name) : [];
  const { controls } = registry.schema();
  const subscriptions = shown.map((one) => subscriptionRecord(one, controls));
  return reply(200, { ...clusterRecord(cluster), subscriptions });
}

function nameOf({ params }: Call): string {
  return params["cluster_name"] ?? "";
}
