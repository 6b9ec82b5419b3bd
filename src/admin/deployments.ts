import { Failure } from "../errors.ts";
import { BadId, checkDeploymentId } from "../model/id.ts";
import { readJson } from "./body.ts";
import { deploymentRecord, detailedDeploymentRecord, registrationRecord } from "./records.ts";
import { readFlag } from "./query.ts";
import { missing, quote } from "./refusals.ts";
import { parseRegistration } from "./register_request.ts";
import type { Registered, Registry } from "./registry.ts";
import { empty, reply } from "./reply.ts";
import type { Call, Routes } from "./route.ts";

/** The routes of deployments (http-api §3.2, §3.4). */
export function deploymentRoutes(registry: Registry): Routes {
  return {
    "/deployments": {
      GET: () => reply(200, { deployments: registry.list().map(deploymentRecord) }),
      POST: (call) => register(registry, call),
    },
    "/deployments/:deployment": {
      GET: (call) => detail(registry, call),
      DELETE: (call) => remove(registry, call),
    },
  };
}

async function register(registry: Registry, call: Call): Promise<Response> {
  const isV2 = call.apiVersion === 2;
  const request = parseRegistration(await readJson(call.request), isV2);
  const { outcome, deployment } = await registry.register(request);
  if (isV2 && outcome === "unchanged") throw alreadyExists(deployment.id);
  return reply(
    status(outcome, isV2),
    registrationRecord(deployment, registry.schema().defaults),
    { location: `deployments/${deployment.id}` },
  );
}

function status(outcome: Registered["outcome"], isV2: boolean): number {
  return outcome === "created" || isV2 ? 201 : 200;
}

/** Version 2 of the API has no "nothing changed": a known address is a conflict (http-api §3.1). */
function alreadyExists(id: string): Failure {
  return new Failure("META0004", `Cannot register the deployment: '${id}' already exists`);
}

function detail(registry: Registry, { params }: Call): Response {
  const id = checkId(params["deployment"] ?? "");
  const deployment = registry.get(id);
  if (!deployment) throw missing("deployment", id);
  return reply(200, detailedDeploymentRecord(deployment, registry.schema().defaults));
}

async function remove(registry: Registry, call: Call): Promise<Response> {
  const id = checkId(call.params["deployment"] ?? "");
  await registry.remove(id, readFlag(call, "force"));
  return empty(202);
}

function checkId(id: string): string {
  try {
    return checkDeploymentId(id);
  } catch (cause) {
    if (!(cause instanceof BadId)) throw cause;
    const message = `Cannot parse deployment id ${quote(id)}: ${cause.message}`;
    throw Failure.plain(400, message, { cause });
  }
}
