import { isAtLeast } from "../auth/grants.ts";
import type { Infer } from "superstruct";
import { Failure } from "../errors.ts";
import { inSlices } from "../slices.ts";
import { BadId, checkDeploymentId } from "../model/id.ts";
import type { Deployment } from "../model/schema.ts";
import {
  isEmptyUpdate,
  parseRegistration,
  parseUpdate,
  registerBody,
  updateBody,
} from "./deployment_body.ts";
import { HIDDEN_VALUE } from "./headers.ts";
import { ref } from "./openapi/answers.ts";
import { force } from "./parameter.ts";
import { deploymentRecord, detailedDeploymentJson, registrationJson } from "./records.ts";
import { missing, quote } from "./refusals.ts";
import type { Registered } from "./registration.ts";
import type { Registry } from "./registry.ts";
import { empty, reply, replyJson } from "./reply.ts";
import { type Call, type RouteDoc, type Routes, withBody } from "./route.ts";

const tag = "deployment";

const LIST: RouteDoc = {
  id: "list_deployments",
  tag,
  summary: "List deployments, the oldest registration first",
  answers: { 200: ["All deployments", ref("ListDeployments")] },
};
const REGISTER: RouteDoc = {
  id: "create_deployment",
  tag,
  summary: "Discover an endpoint or a function, and register what it serves",
  answers: {
    200: ["Known: unchanged, or overwritten", ref("RegisterDeploymentResponse")],
    201: ["Created", ref("RegisterDeploymentResponse")],
  },
  refusals: [409, 503],
};
const SHOW: RouteDoc = {
  id: "get_deployment",
  tag,
  summary: "Show one deployment with its services in full",
  answers: { 200: ["The deployment", ref("DetailedDeployment")] },
  refusals: [404],
};
const UPDATE: RouteDoc = {
  id: "update_deployment",
  tag,
  summary: "Pause a deployment, or update it in place: its address, headers, or what it serves",
  answers: { 200: ["The deployment as it is now", ref("DetailedDeployment")] },
  refusals: [404, 503],
};
const REPLACE: RouteDoc = {
  ...UPDATE,
  id: "replace_deployment",
  summary: "Update a deployment in place, and serve the handlers that are new at its endpoint",
};
const DELETE: RouteDoc = {
  id: "delete_deployment",
  tag,
  summary: "Delete a deployment",
  query: [force],
  answers: { 202: ["Deleted"] },
  refusals: [404, 409, 503],
};

/** What the routes of deployments need. */
export interface DeploymentDeps {
  readonly registry: Registry;
  /** As in `Clock`. */
  readonly soon: (call: () => void) => void;
}

/** The routes of deployments (docs/spec/admin.md#registration-of-deployments). */
export function deploymentRoutes(deps: DeploymentDeps): Routes {
  const { registry } = deps;
  return {
    "/deployments": {
      GET: { ...LIST, handle: (call) => list(registry, call) },
      POST: withBody(REGISTER, registerBody, (call, body) => register(deps, call, body)),
    },
    "/deployments/:deployment": {
      GET: { ...SHOW, handle: (call) => detailed(deps, shownTo(call, knownIn(registry, call))) },
      PATCH: withBody(UPDATE, updateBody, (call, body) => patch(deps, call, body)),
      PUT: withBody(REPLACE, updateBody, (call, body) => put(deps, call, body)),
      DELETE: { ...DELETE, handle: (call) => remove(registry, call) },
    },
  };
}

function list(registry: Registry, call: Call): Response {
  const schema = registry.schema();
  const shown = registry.list().map((one) => deploymentRecord(shownTo(call, one), schema));
  return reply(200, { deployments: shown });
}

/** Values of headers are often credentials of the endpoint: only clients that may set them see them. */
function shownTo({ level }: Call, deployment: Deployment): Deployment {
  if (isAtLeast(level, "admin")) return deployment;
  const shown = Object.entries(deployment.additionalHeaders)
    .map(([name, value]) => [name, typeof value === "string" ? HIDDEN_VALUE : value] as const);
  return { ...deployment, additionalHeaders: Object.fromEntries(shown) };
}

async function register(
  { registry, soon }: DeploymentDeps,
  { apiVersion }: Call,
  body: Infer<typeof registerBody>,
): Promise<Response> {
  const isV2 = apiVersion === 2;
  const { outcome, deployment } = await registry.register(parseRegistration(body, isV2));
  if (isV2 && outcome === "unchanged") throw alreadyExists(deployment.id);
  const json = await inSlices(registrationJson(deployment, registry.schema()), soon);
  return replyJson(status(outcome, isV2), json, { location: `deployments/${deployment.id}` });
}

function status(outcome: Registered["outcome"], isV2: boolean): number {
  return outcome === "created" || isV2 ? 201 : 200;
}

/**
 * Version 2 of the API has no "nothing changed": a known address is a conflict
 * (docs/spec/admin.md#requests).
 */
function alreadyExists(id: string): Failure {
  return new Failure("META0004", `Cannot register the deployment: '${id}' already exists`);
}

async function remove(registry: Registry, call: Call): Promise<Response> {
  await registry.remove(idOf(call), force.read(call));
  return empty(202);
}

/**
 * Keeps the services, unless told to overwrite them. A body that says nothing changes nothing, and one
 * that only says `paused` asks no endpoint.
 */
async function patch(
  deps: DeploymentDeps,
  call: Call,
  body: Infer<typeof updateBody>,
): Promise<Response> {
  const { registry } = deps;
  const known = knownIn(registry, call);
  if (isEmptyUpdate(body)) {
    if (body.paused != null) await registry.controls.pauseDeployment(known.id, body.paused);
    return await detailed(deps, known);
  }
  const update = parseUpdate(body, known, "keep");
  return await detailed(deps, await registry.update(known.id, update));
}

/**
 * Asks the endpoint in any case, and serves what it has now
 * (docs/spec/admin.md#update-of-a-deployment).
 */
async function put(
  deps: DeploymentDeps,
  call: Call,
  body: Infer<typeof updateBody>,
): Promise<Response> {
  const { registry } = deps;
  const known = knownIn(registry, call);
  const update = parseUpdate(body, known, "extend");
  return await detailed(deps, await registry.update(known.id, update));
}

function knownIn(registry: Registry, call: Call): Deployment {
  const id = idOf(call);
  const known = registry.get(id);
  if (!known) throw missing("deployment", id);
  return known;
}

async function detailed(
  { registry, soon }: DeploymentDeps,
  deployment: Deployment,
): Promise<Response> {
  const schema = registry.schema();
  return replyJson(200, await inSlices(detailedDeploymentJson(deployment, schema), soon));
}

function idOf({ params }: Call): string {
  const id = params["deployment"] ?? "";
  try {
    return checkDeploymentId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    const message = `Cannot parse deployment id ${quote(id)}: ${cause.message}`;
    throw Failure.plain(400, message, { cause });
  }
}
