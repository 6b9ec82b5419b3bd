import { type HandlerSchema, isPublic, type ServiceSchema } from "../../model/schema.ts";
import type { Dialect } from "../../names.ts";
import type { Json } from "../json.ts";
import { embed } from "./embed.ts";
import { parameters, responses, schemas } from "./service_components.ts";

export interface ServiceDocumentOptions {
  /** Paths exist in both spellings; these are the caller's. */
  readonly dialect: Dialect;
  /** The URL under which callers reach the ingress. */
  readonly ingressEndpoint: string;
}

const KEY = { $ref: "#/components/parameters/key" };
const DELAY = { $ref: "#/components/parameters/delay" };
const IDEMPOTENCY = { $ref: "#/components/parameters/idempotencyKeyHeader" };
const IDEMPOTENCY_PATH = { $ref: "#/components/parameters/idempotencyKeyPath" };
const ERROR = { $ref: "#/components/responses/GenericError" };
const NOT_FOUND = { $ref: "#/components/responses/InvocationNotFoundError" };
const NOT_READY = { $ref: "#/components/responses/InvocationNotReadyError" };
const SENT = { $ref: "#/components/responses/Send" };
/** Anything. Said, not left out: generators skip operations with bodies that have no schema. */
const ANYTHING = { schema: {} };
const TAGS = [
  { name: "Send", description: "Sends a request and does not wait for its result" },
  { name: "Attach", description: "Waits for the result of an earlier request" },
  { name: "Get Output", description: "The result of an earlier request, if it has one" },
];

/**
 * How a service is called, as OpenAPI 3.1, with the JSON schemas that its SDK supplies
 * (docs/spec/admin.md#services). Handlers that only other handlers may call are left out.
 */
export function serviceDocument(
  service: ServiceSchema,
  { dialect, ingressEndpoint }: ServiceDocumentOptions,
): Json {
  const { name, revision, documentation } = service;
  const handlers = Object.values(service.handlers).filter((one) => isPublic(service, one));
  const document = new Paths(service, dialect, handlers);
  return {
    openapi: "3.1.0",
    info: {
      title: name,
      version: String(revision),
      ...(documentation !== undefined && { description: documentation }),
    },
    servers: [{ url: ingressEndpoint }],
    security: [],
    tags: TAGS,
    paths: Object.assign({}, ...handlers.map((one) => document.of(one))),
    components: {
      parameters,
      responses,
      schemas: { ...schemas, ...Object.assign({}, ...handlers.map(ownSchemas)) },
    },
  };
}

/** The paths of one service's handlers. */
class Paths {
  readonly #service: ServiceSchema;
  readonly #dialect: Dialect;
  readonly #ids: Ids;

  constructor(service: ServiceSchema, dialect: Dialect, handlers: readonly HandlerSchema[]) {
    this.#service = service;
    this.#dialect = dialect;
    this.#ids = new Ids(handlers);
  }

  of(handler: HandlerSchema): Json {
    const { name, type } = this.#service;
    const own = `${name}${type === "service" ? "" : "/{key}"}/${handler.name}`;
    return {
      [`/${this.#dialect}/call/${own}`]: { post: this.#call(handler) },
      [`/${this.#dialect}/send/${own}`]: { post: this.#send(handler) },
      ...this.#results(handler),
    };
  }

  #call(handler: HandlerSchema): Json {
    return {
      ...this.#about(handler, "", "Call it and wait for the result"),
      parameters: [...this.#key, ...this.#idempotency],
      ...requestBody(handler),
      responses: { 200: result(handler), default: ERROR },
    };
  }

  #send(handler: HandlerSchema): Json {
    return {
      ...this.#about(handler, "Send", "Send it a request, now or with a delay"),
      tags: ["Send"],
      parameters: [...this.#key, ...this.#idempotency, DELAY],
      ...requestBody(handler),
      responses: { 200: SENT, 202: SENT, default: ERROR },
    };
  }

  /** Where the result of an earlier call is found: by workflow id, else by idempotency key. */
  #results(handler: HandlerSchema): Json {
    const { name, type } = this.#service;
    if (type === "workflow" && handler.access !== "run") return {};
    const isWorkflow = type === "workflow";
    const key = type === "virtual_object" ? "/{key}" : "";
    const base = isWorkflow
      ? `/${this.#dialect}/workflow/${name}/{key}`
      : `/${this.#dialect}/invocation/${name}${key}/${handler.name}/{idempotencyKey}`;
    const shared = {
      deprecated: true,
      parameters: isWorkflow ? [KEY] : [...this.#key, IDEMPOTENCY_PATH],
    };
    const found = { 200: result(handler), 404: NOT_FOUND, default: ERROR };
    return {
      [`${base}/attach`]: {
        get: {
          ...this.#about(handler, "Attach", "Wait for the result of an earlier call"),
          ...shared,
          tags: ["Attach"],
          responses: found,
        },
      },
      [`${base}/output`]: {
        get: {
          ...this.#about(handler, "Output", "The result of an earlier call, if it has one"),
          ...shared,
          tags: ["Get Output"],
          responses: { ...found, 470: NOT_READY },
        },
      },
    };
  }

  #about({ name, documentation }: HandlerSchema, suffix: string, summary: string): Json {
    return {
      operationId: this.#ids.of(name, suffix),
      summary: `${name}: ${summary}`,
      ...(documentation !== undefined && { description: documentation }),
    };
  }

  get #key(): Json[] {
    return this.#service.type === "service" ? [] : [KEY];
  }

  /** Workflows are idempotent by their id. */
  get #idempotency(): Json[] {
    return this.#service.type === "workflow" ? [] : [IDEMPOTENCY];
  }
}

/** Operation ids: the handler's name and what is done, but never twice the same. */
class Ids {
  readonly #names: ReadonlySet<string>;

  constructor(handlers: readonly HandlerSchema[]) {
    this.#names = new Set(handlers.map(({ name }) => name));
  }

  of(handler: string, suffix: string): string {
    let id = `${handler}${suffix}`;
    while (suffix !== "" && this.#names.has(id)) id += "_";
    return id;
  }
}

function ownSchemas({ name, input, output }: HandlerSchema): Json {
  return {
    ...(hasSchema(input) && { [`${name}Request`]: placed(`${name}Request`, input.jsonSchema) }),
    ...(hasSchema(output) && { [`${name}Response`]: placed(`${name}Response`, output.jsonSchema) }),
  };
}

function placed(name: string, schema: unknown): unknown {
  return embed(schema, `#/components/schemas/${name}`);
}

/** Without a content type there is no body, so its schema says nothing; null is no schema. */
function hasSchema<T extends { readonly contentType?: string; readonly jsonSchema?: unknown }>(
  rule: T | undefined,
): rule is T {
  return rule?.contentType !== undefined && rule.jsonSchema != null;
}

function requestBody({ name, input }: HandlerSchema): Json {
  if (!input) return { requestBody: { required: false, content: { "*/*": ANYTHING } } };
  const { contentType, required } = input;
  if (contentType === undefined) return {};
  const schema = hasSchema(input) ? schemaRef(`${name}Request`) : ANYTHING;
  return { requestBody: { required, content: { [contentType]: schema } } };
}

function result({ name, output }: HandlerSchema): Json {
  const description = "The handler's result";
  const contentType = output ? output.contentType : "application/json";
  if (contentType === undefined) return { description };
  const schema = hasSchema(output) ? schemaRef(`${name}Response`) : ANYTHING;
  return { description, content: { [contentType]: schema } };
}

function schemaRef(name: string): Json {
  return { schema: { $ref: `#/components/schemas/${name}` } };
}
