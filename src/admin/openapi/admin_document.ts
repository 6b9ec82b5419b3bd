import { codeField, type Dialect } from "../../names.ts";
import { BEARER_OR_NONE, SECURITY_SCHEMES } from "../../auth/security_scheme.ts";
import type { Json } from "../json.ts";
import type { ResponseDoc, Route, Routes } from "../route.ts";
import { jsonSchemaOf } from "../shapes.ts";
import { answerSchemas } from "./answers.ts";

export interface AdminDocumentOptions {
  /** How the code of a refusal is spelled for the caller. */
  readonly dialects: readonly Dialect[];
  /** What `GET /version` says. */
  readonly version: string;
}

const TAGS: Readonly<Record<string, string>> = {
  deployment: "Endpoints and functions that serve handlers",
  service: "What is served: always the latest revision",
  service_handler: "Handlers of services",
  invocation: "Operations on invocations",
  rule: "Limits of what may run in a scope",
  vqueue: "Virtual queues: what waits together",
  kafka_cluster: "Kafka clusters: where subscriptions read",
  subscription: "Subscriptions: topics whose records become invocations",
  introspection: "What the server knows, in SQL",
  cluster_health: "Whether the cluster answers",
  health: "Whether the server answers",
  version: "What it is",
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  deployment: "Id of a deployment",
  service: "Name of a service",
  handler: "Name of a handler",
  invocation_id: "Id of an invocation",
  vqueue_id: "Id of a virtual queue",
  cluster_name: "Name of a Kafka cluster",
  subscription: "Id of a subscription",
};

/** Any request may be refused with these: what is sent, by whom, too much at once, our own world. */
const COMMON = [400, 401, 403, 405, 429, 500];
/** And one with a body with these. */
const OF_BODIES = [413, 415, 422];

/**
 * The admin interface as OpenAPI 3.1, from the routes that serve it. Every refusal has the one shape
 * of `refuse`.
 */
export function adminDocument(routes: Routes, options: AdminDocumentOptions): Json {
  const { dialects, version } = options;
  const paths = Object.entries(routes).flatMap(([path, methods]) => {
    const described = Object.entries(methods).flatMap(([method, route]) =>
      typeof route === "function" ? [] : [[method.toLowerCase(), operation(path, route)] as const]
    );
    return described.length === 0 ? [] : [[openApiPath(path), Object.fromEntries(described)]];
  });
  return {
    openapi: "3.1.0",
    info: {
      title: "Admin API",
      version,
      description:
        "Registers deployments, operates on invocations, shows what there is. The same " +
        "paths exist under `/v2`, `/v3` and `/v4`; without a prefix, the newest is meant.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: BEARER_OR_NONE,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: { ...answerSchemas, ErrorDescriptionResponse: refusal(dialects) },
      securitySchemes: SECURITY_SCHEMES,
      responses: {
        Refusal: {
          description: "Refused, with the reason",
          ...content({ $ref: "#/components/schemas/ErrorDescriptionResponse" }),
        },
      },
    },
  };
}

function refusal(dialects: readonly Dialect[]): Json {
  const code = { type: ["string", "null"], examples: ["META0006"] };
  return {
    type: "object",
    properties: {
      message: { type: "string" },
      ...Object.fromEntries(dialects.map((dialect) => [codeField(dialect), code])),
    },
    required: ["message"],
  };
}

/** `/a/:b` as `/a/{b}`. */
function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, "{$1}");
}

function operation(path: string, route: Route): Json {
  const { id, tag, summary, deprecated, body, answers } = route;
  const parameters = [...pathParameters(path), ...queryParameters(route)];
  const refusals = [...COMMON, ...(body ? OF_BODIES : []), ...(route.refusals ?? [])];
  const responses = [
    ...Object.entries(answers).map(([status, answer]) => [status, response(answer)] as const),
    ...refusals.map((status) =>
      [String(status), { $ref: "#/components/responses/Refusal" }] as const
    ),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(deprecated && { deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, ...content(jsonSchemaOf(body)) } }),
    responses: Object.fromEntries(responses),
  };
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: PATH_PARAMETERS[name] ?? name,
    schema: { type: "string" },
  }));
}

function queryParameters({ query = [] }: Route): Json[] {
  return query.map(({ name, description, schema }) => ({
    name,
    in: "query",
    required: false,
    description,
    schema,
  }));
}

function response([description, schema, mediaType, bytesType]: ResponseDoc): Json {
  return { description, ...(schema && content(schema, mediaType, bytesType)) };
}

function content(schema: Json, mediaType = "application/json", bytesType?: string): Json {
  return { content: { [mediaType]: { schema }, ...(bytesType && { [bytesType]: {} }) } };
}
