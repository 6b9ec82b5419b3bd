import type { Infer } from "superstruct";
import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { type Deployment, handlerIn, type ServiceSchema } from "../model/schema.ts";
import type { Invocations } from "../ports.ts";
import type { IngressEndpoint } from "./ingress_endpoint.ts";
import { ref } from "./openapi/answers.ts";
import { serviceDocument } from "./openapi/service_document.ts";
import { handlerRecord, handlerRecords, SERVICE_TYPES, serviceRecord } from "./records.ts";
import { missing, quote } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import { dialectOf, empty, reply } from "./reply.ts";
import { type Call, type RouteDoc, type Routes, withBody } from "./route.ts";
import {
  changeBody,
  changeHandlerBody,
  parseChanges,
  parseControls,
  parseLimits,
} from "./service_body.ts";
import { checkScope, parseEdit, stateBody } from "./state_body.ts";

export interface ServiceDeps {
  readonly registry: Registry;
  readonly invocations: Pick<Invocations, "editState">;
  readonly ingressEndpoint: IngressEndpoint;
}

const tag = "service";
const handlerTag = "service_handler";

const LIST: RouteDoc = {
  id: "list_services",
  tag,
  summary: "List the latest revision of each service, by name",
  answers: { 200: ["All services", ref("ListServices")] },
};
const SHOW: RouteDoc = {
  id: "get_service",
  tag,
  summary: "Show the latest revision of a service",
  answers: { 200: ["The service", ref("Service")] },
  refusals: [404],
};
const CHANGE: RouteDoc = {
  id: "modify_service",
  tag,
  summary: "Change options of a service until it is registered again, and its limits for good",
  answers: { 200: ["The service as it is now", ref("Service")] },
  refusals: [404, 503],
};
const EDIT: RouteDoc = {
  id: "modify_service_state",
  tag,
  summary: "Replace all state of an object or workflow, as soon as it is free",
  answers: { 202: ["Accepted. An edit of a version that is not the current one does nothing"] },
  refusals: [404, 503],
};
const DESCRIBE: RouteDoc = {
  id: "get_service_openapi",
  tag,
  summary: "Describe how a service is called, as OpenAPI 3.1",
  answers: { 200: ["An OpenAPI document", { type: "object" }] },
  refusals: [404],
};
const LIST_HANDLERS: RouteDoc = {
  id: "list_service_handlers",
  tag: handlerTag,
  summary: "List the handlers of a service",
  answers: { 200: ["Its handlers", ref("ListHandlers")] },
  refusals: [404],
};
const SHOW_HANDLER: RouteDoc = {
  id: "get_service_handler",
  tag: handlerTag,
  summary: "Show a handler of a service",
  answers: { 200: ["The handler", ref("Handler")] },
  refusals: [404],
};

const CHANGE_HANDLER: RouteDoc = {
  id: "modify_service_handler",
  tag: handlerTag,
  summary: "Limit what may run of a handler, whichever deployments serve it",
  answers: { 200: ["The handler as it is now", ref("Handler")] },
  refusals: [404, 503],
};

/**
 * The routes of services and handlers: always the revision that takes new calls
 * (docs/spec/admin.md#services).
 */
export function serviceRoutes(deps: ServiceDeps): Routes {
  const { registry } = deps;
  const path = "/services/:service";
  return {
    "/services": { GET: { ...LIST, handle: () => list(registry) } },
    [path]: {
      GET: { ...SHOW, handle: (call) => show(registry, call) },
      PATCH: withBody(CHANGE, changeBody, (call, body) => change(registry, call, body)),
    },
    [`${path}/state`]: {
      POST: withBody(EDIT, stateBody, (call, body) => editState(deps, call, body)),
    },
    [`${path}/openapi`]: { GET: { ...DESCRIBE, handle: (call) => describe(deps, call) } },
    [`${path}/handlers`]: {
      GET: { ...LIST_HANDLERS, handle: (call) => listHandlers(registry, call) },
    },
    [`${path}/handlers/:handler`]: {
      GET: { ...SHOW_HANDLER, handle: (call) => handler(registry, call) },
      PATCH: withBody(
        CHANGE_HANDLER,
        changeHandlerBody,
        (call, body) => changeHandler(registry, call, body),
      ),
    },
  };
}

async function change(
  registry: Registry,
  call: Call,
  body: Infer<typeof changeBody>,
): Promise<Response> {
  const [changes, controls] = [parseChanges(body), parseControls(body)];
  if (changes || controls) await registry.changeService(nameOf(call), changes, controls);
  return show(registry, call);
}

async function changeHandler(
  registry: Registry,
  call: Call,
  body: Infer<typeof changeHandlerBody>,
): Promise<Response> {
  const [service = "", name = ""] = [call.params["service"], call.params["handler"]];
  await registry.controls.changeHandler(service, name, parseLimits(body));
  return handler(registry, call);
}

async function editState(
  { registry, invocations }: ServiceDeps,
  call: Call,
  body: Infer<typeof stateBody>,
): Promise<Response> {
  const { service: { name, type } } = find(registry, call);
  if (type === "service") {
    throw Failure.plain(400, `Cannot modify state for service type ${SERVICE_TYPES[type]}`);
  }
  call.audited.note("object_key", body.object_key);
  const object = { service: name, key: body.object_key };
  const { scope } = body;
  if (scope == null) await invocations.editState(object, parseEdit(body));
  else {
    checkScope(scope, type, registry.schema().defaults.flowControl);
    await invocations.editState({ ...object, scope }, parseEdit(body));
  }
  return empty(202);
}

function describe({ registry, ingressEndpoint }: ServiceDeps, call: Call): Response {
  const { service } = find(registry, call);
  const dialect = dialectOf(call.request.headers);
  const options = { dialect, ingressEndpoint: ingressEndpoint(call.request.url) };
  return reply(200, serviceDocument(service, options));
}

function show(registry: Registry, call: Call): Response {
  const { service, deployment } = find(registry, call);
  return reply(200, serviceRecord(service, deployment, registry.schema()));
}

/** Ordered by name, so that two listings of the same services are equal. */
function list(registry: Registry): Response {
  const schema = registry.schema();
  const services = schema.services().sort((left, right) => left.name < right.name ? -1 : 1);
  return reply(200, {
    services: services.map((one) => serviceRecord(one, home(registry, one), schema)),
  });
}

function listHandlers(registry: Registry, call: Call): Response {
  const { service, deployment } = find(registry, call);
  return reply(200, { handlers: handlerRecords(service, deployment, registry.schema()) });
}

function nameOf({ params }: Call): string {
  return params["service"] ?? "";
}

function find(registry: Registry, call: Call) {
  const name = nameOf(call);
  const service = registry.schema().latest(name);
  if (!service) throw missing("service", name);
  return { service, deployment: home(registry, service) };
}

/**
 * An unknown service and an unknown handler are refused in the same words
 * (docs/spec/admin.md#services).
 */
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
      schema: registry.schema(),
    }),
  );
}

function home(registry: Registry, service: ServiceSchema): Deployment {
  const deployment = registry.schema().deployments.get(service.deployment);
  assert(deployment, "A service must belong to a deployment of the same schema");
  return deployment;
}
