import { PRIORITY_HEADER } from "../../model/priority.ts";
import { PRIORITY_MAX } from "../../model/queue.ts";
import { header, OWN } from "../../names.ts";

/** A part of the document. */
export type Json = Readonly<Record<string, unknown>>;

const text = { type: "string" } as const;
/** Anything: said and not left out, because generators skip bodies that have no schema. */
export const anything = { schema: {} } as const;
const ID = header(OWN, "id");
const LIMIT_KEY = header(OWN, "limit-key");

/** Points to a parameter. */
export function parameter(name: keyof typeof parameters): Json {
  return { $ref: `#/components/parameters/${name}` };
}

/** Points to a response. */
export function response(name: keyof typeof responses): Json {
  return { $ref: `#/components/responses/${name}` };
}

/** A JSON body of one of the schemas. */
export function json(schema: keyof typeof schemas): Json {
  return {
    required: true,
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

function inPath(name: string, description: string): Json {
  return { name, in: "path", required: true, description, schema: text };
}

/** Parameters that routes share. */
export const parameters = {
  service: inPath("service", "Name of a service, object or workflow"),
  key: inPath("key", "Key of the object, or id of the workflow, percent-encoded"),
  handler: inPath("handler", "Name of a handler; `run` begins a workflow"),
  invocationId: inPath("invocationId", "Id of an invocation: `inv_…`"),
  awakeableId: inPath("awakeableId", "Id of an awakeable: `sign_…`"),
  idempotencyKey: {
    name: "idempotency-key",
    in: "header",
    required: false,
    description: "Requests with the same key are one invocation. Not for a workflow's `run`.",
    schema: text,
  },
  scope: inPath("scope", "A scope: 1 to 36 of letters, digits, `_`, `.` and `-`"),
  limitKey: {
    name: LIMIT_KEY,
    in: "header",
    required: false,
    description:
      "What rules count by within the scope: one level, or two with a slash between them",
    schema: text,
  },
  priority: {
    name: PRIORITY_HEADER,
    in: "header",
    required: false,
    description: "Which goes first of those that wait; 4 if it is absent",
    schema: { type: "integer", minimum: 0, maximum: PRIORITY_MAX },
  },
  delay: {
    name: "delay",
    in: "query",
    required: false,
    description: "How long to wait before it begins: `10s`, `1h 30m` or `PT10S`",
    schema: text,
  },
};

function answer(description: string, schema: keyof typeof schemas, isIdentified = false): Json {
  const { content } = json(schema) as { readonly content: Json };
  const named = { headers: { [ID]: { $ref: "#/components/headers/Id" } } };
  return { description, ...(isIdentified && named), content };
}

/** Bodies that are not a handler's. */
export const schemas = {
  Error: {
    type: "object",
    properties: {
      code: { type: "integer", description: "The status, or the code that the handler gave" },
      message: text,
      source: {
        enum: ["ingress", "invocation"],
        description: "Whether the server refused, or the handler failed for good",
      },
      stacktrace: text,
      metadata: { type: "object", additionalProperties: text },
    },
    required: ["message"],
  },
  Sent: {
    type: "object",
    properties: {
      invocationId: text,
      status: { enum: ["Accepted", "PreviouslyAccepted"] },
      executionTime: {
        type: "string",
        format: "date-time",
        description: "When a delayed one begins",
      },
    },
    required: ["invocationId", "status"],
  },
  Found: { type: "object", properties: { invocationId: text }, required: ["invocationId"] },
  Target: {
    oneOf: [
      target("invocation", { invocationId: text }),
      target("workflow", { workflowName: text, workflowKey: text }, { scope: text }),
      target("idempotentInvocation", { service: text, handler: text, idempotencyKey: text }, {
        key: text,
        scope: text,
      }),
    ],
  },
};

/** A target object. `more`: fields that may be absent. */
function target(name: string, fields: Json, more: Json = {}): Json {
  return {
    type: "object",
    properties: { target: { const: name }, ...fields, ...more },
    required: ["target", ...Object.keys(fields)],
  };
}

/** Answers that routes share (docs/spec/ingress.md#errors). */
export const responses = {
  Result: {
    description: "What the handler returned",
    headers: { [ID]: { $ref: "#/components/headers/Id" } },
    content: { "*/*": anything },
  },
  Sent: answer("Durable, now or earlier", "Sent", true),
  Found: answer("The id", "Found"),
  NotFound: answer("There is no such invocation", "Error"),
  NotReady: answer("It has no result yet", "Error"),
  Error: answer("What went wrong", "Error"),
};

/** Headers of answers. */
export const headers = {
  Id: { description: "Id of the invocation", schema: text },
};
