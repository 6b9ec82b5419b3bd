import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { type Deployment, handlerIn, type ServiceSchema } from "../model/schema.ts";
import { handlerRecord, handlerRecords, serviceRecord } from "./records.ts";
import { missing, quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { reply } from "./reply.ts";
import type { Call, Routes } from "./route.ts";

/** The routes of services and handlers: always the revision that takes new calls (http-api §3.5). */
export function serviceRoutes(registry: Registry): Routes {
  return {
    "/services": { GET: () => list(registry) },
    "/services/:service": {
      GET: (call) => {
        const { service, deployment } = find(registry, call);
        return reply(200, serviceRecord(service, deployment, registry.schema().defaults));
      },
    },
    "/services/:service/handlers": {
      GET: (call) => {
        const { service, deployment } = find(registry, call);
        return reply(200, {
          handlers: handlerRecords(service, deployment, registry.schema().defaults.limits),
        });
      },
    },
    "/services/:service/handlers/:handler": { GET: (call) => handler(registry, call) },
  };
}

/** Ordered by name, so that two listings of the same services are equal. */
function list(registry: Registry): Response {
  const schema = registry.schema();
  const services = schema.services().sort((left, right) => left.name < right.name ? -1 : 1);
  return reply(200, {
    services: services.map((one) => serviceRecord(one, home(registry, one), schema.defaults)),
  });
}

function find(registry: Registry, { params }: Call) {
  const name = params["service"] ?? "";
  const service = registry.schema().latest(name);
  if (!service) throw missing("service", name);
  return { service, deployment: home(registry, service) };
}

/** An unknown service and an unknown handler are refused in the same words (http-api §3.5). */
function handler(registry: Registry, { params }: Call): Response {
  const [serviceName, name] = [params["service"] ?? "", params["handler"] ?? ""];
  const service = registry.schema().latest(serviceName);
  const found = service && handlerIn(service, name);
  if (!found) {
    throw Failure.plain(
      404,
      `The requested handler ${quote(name)} on service ${quote(serviceName)} does not exist`,
    );
  }
  return reply(
    200,
    handlerRecord(found, {
      service,
      deployment: home(registry, service),
      limits: registry.schema().defaults.limits,
    }),
  );
}

function home(registry: Registry, service: ServiceSchema): Deployment {
  const deployment = registry.schema().deployments.get(service.deployment);
  assert(deployment, "A service must belong to a deployment of the same schema");
  return deployment;
}
