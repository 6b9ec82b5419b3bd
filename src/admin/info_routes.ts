import { type Readiness, readyAnswer } from "../model/readiness.ts";
import type { Dialect } from "../names.ts";
import type { Json } from "./json.ts";
import { adminDocument } from "./openapi/admin_document.ts";
import { ref } from "./openapi/answers.ts";
import { dialectsOf, empty, reply } from "./reply.ts";
import type { About, Routes } from "./route.ts";
import { type Feature, versionRecord } from "./version.ts";

export interface InfoOptions {
  /** Our own version, as in `package.json`. */
  readonly version: string;
  readonly clusterName: string;
  readonly ingressEndpoint: string;
  readonly features?: readonly Feature[];
  /** The page of metrics. Absent: there is none. */
  readonly metrics?: () => Promise<Response>;
  /** What keeps the process from being ready. Absent: nothing. */
  readonly readiness?: Readiness;
}

const HEALTH: About = {
  id: "health",
  tag: "health",
  summary: "Whether the admin interface answers",
  answers: { 200: ["It does"] },
};
const READY: About = {
  id: "ready",
  tag: "health",
  summary: "Whether the process serves all partitions that it should, and reaches their database",
  answers: {
    200: ["It does", ref("Readiness")],
    503: ["It does not, and why", ref("Readiness")],
  },
};
const CLUSTER_HEALTH: About = {
  id: "cluster_health",
  tag: "cluster_health",
  summary: "Whether the cluster answers",
  deprecated: true,
  answers: { 200: ["It does", ref("ClusterHealthResponse")] },
};
const VERSION: About = {
  id: "version",
  tag: "version",
  summary: "Version, interface versions and features",
  answers: { 200: ["What this server is", ref("VersionInformation")] },
};
/** One process is the whole cluster: its number is 1. */
const MEMBERS = { members: [1] };

/** The routes that tell what this server is (http-api §3.3). `all`: what `/openapi` describes. */
export function infoRoutes(options: InfoOptions, all: () => Routes): Routes {
  const cluster = { cluster_name: options.clusterName, metadata_cluster_health: MEMBERS };
  const version = versionRecord(options);
  const documents = new Map<readonly Dialect[], Json>();
  const document = (dialects: readonly Dialect[]): Json => {
    const known = documents.get(dialects);
    if (known) return known;
    const made = adminDocument(all(), { dialects, version: String(version.version) });
    documents.set(dialects, made);
    return made;
  };
  return {
    "/health": { GET: { ...HEALTH, handle: () => empty(200) } },
    "/ready": { GET: { ...READY, handle: () => readyOf(options) } },
    "/cluster-health": { GET: { ...CLUSTER_HEALTH, handle: () => reply(200, cluster) } },
    "/version": { GET: { ...VERSION, handle: () => reply(200, version) } },
    "/openapi": { GET: ({ request }) => reply(200, document(dialectsOf(request.headers))) },
  };
}

async function readyOf({ readiness }: InfoOptions): Promise<Response> {
  const { status, body } = readyAnswer(await readiness?.() ?? []);
  return reply(status, body);
}
