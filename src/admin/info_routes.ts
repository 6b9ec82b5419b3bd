import type { Member } from "../model/member.ts";
import { type Readiness, readyAnswer } from "../model/readiness.ts";
import type { Dialect } from "../names.ts";
import type { IngressEndpoint } from "./ingress_endpoint.ts";
import type { Json } from "./json.ts";
import { adminDocument } from "./openapi/admin_document.ts";
import { ref } from "./openapi/answers.ts";
import { dialectsOf, empty, reply } from "./reply.ts";
import type { RouteDoc, Routes } from "./route.ts";
import { type PublishedKeys, wellKnownRoutes } from "./well_known_routes.ts";
import { type Feature, ownVersion, versionRecord } from "./version.ts";

export interface InfoOptions {
  /** Our own version, as in `package.json`. */
  readonly version: string;
  readonly clusterName: string;
  readonly ingressEndpoint: IngressEndpoint;
  readonly features?: readonly Feature[];
  /** The page of metrics. Absent: there is none. */
  readonly metrics?: () => Promise<Response>;
  /** What keeps the process from being ready. Absent: nothing. */
  readonly readiness?: Readiness;
  /** What verifies ID tokens of this server. Absent or undefined: it makes none. */
  readonly idTokenKeys?: () => PublishedKeys | undefined;
  /** The processes of a fleet. Absent: this one is alone. */
  readonly members?: () => readonly Member[];
}

const HEALTH: RouteDoc = {
  id: "health",
  tag: "health",
  summary: "Whether the admin interface answers",
  answers: { 200: ["It does"] },
};
const READY: RouteDoc = {
  id: "ready",
  tag: "health",
  summary: "Whether the process serves all partitions that it should, and reaches their database",
  answers: {
    200: ["It does", ref("Readiness")],
    503: ["It does not, and why", ref("Readiness")],
  },
};
const CLUSTER_HEALTH: RouteDoc = {
  id: "cluster_health",
  tag: "cluster_health",
  summary: "Whether the cluster answers",
  deprecated: true,
  answers: { 200: ["It does", ref("ClusterHealthResponse")] },
};
const VERSION: RouteDoc = {
  id: "version",
  tag: "version",
  summary: "Version, interface versions and features",
  answers: { 200: ["What this server is", ref("VersionInformation")] },
};

/**
 * The routes that tell what this server is (docs/spec/admin.md#version-and-health). `all`: what
 * `/openapi` describes.
 */
export function infoRoutes(options: InfoOptions, all: () => Routes): Routes {
  const version = versionOf(options);
  const documents = new Map<readonly Dialect[], Json>();
  const document = (dialects: readonly Dialect[]): Json => {
    const known = documents.get(dialects);
    if (known) return known;
    const made = adminDocument(all(), { dialects, version: ownVersion(options) });
    documents.set(dialects, made);
    return made;
  };
  return {
    "/health": { GET: { ...HEALTH, handle: () => empty(200) } },
    "/ready": { GET: { ...READY, handle: () => readyOf(options) } },
    "/cluster-health": { GET: { ...CLUSTER_HEALTH, handle: () => reply(200, clusterOf(options)) } },
    "/version": { GET: { ...VERSION, handle: ({ request }) => reply(200, version(request.url)) } },
    ...wellKnownRoutes(options.idTokenKeys),
    "/openapi": { GET: ({ request }) => reply(200, document(dialectsOf(request.headers))) },
  };
}

/** What `GET /version` answers to a request for a URL. */
export function versionOf(
  options: Pick<InfoOptions, "version" | "ingressEndpoint" | "features">,
): (asked: string) => Record<string, unknown> {
  return (asked) => versionRecord({ ...options, ingressEndpoint: options.ingressEndpoint(asked) });
}

async function readyOf({ readiness }: InfoOptions): Promise<Response> {
  const { status, body } = readyAnswer(await readiness?.() ?? []);
  return reply(status, body);
}

/** Members have numbers for clients that know nothing else. One process alone has the number 1. */
function clusterOf({ clusterName, members }: InfoOptions): object {
  const all = members?.() ?? [];
  const numbers = Array.from({ length: Math.max(1, all.length) }, (_, at) => at + 1);
  const known = { cluster_name: clusterName, metadata_cluster_health: { members: numbers } };
  return members ? { ...known, members: all.map(memberRecord) } : known;
}

function memberRecord({ id, address, partitions, unreached }: Member): object {
  if (!unreached) return { id, address, partitions, reached: true };
  const { cause, since } = unreached;
  const record = { id, address, partitions, reached: false };
  return { ...record, cause, since: new Date(since).toISOString() };
}
