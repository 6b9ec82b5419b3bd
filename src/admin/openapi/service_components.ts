import type { Json } from "../json.ts";

const string = { type: "string" } as const;

/** Parameters that handlers share. */
export const parameters: Json = {
  delay: {
    name: "delay",
    in: "query",
    required: false,
    description: "How long to wait before it begins: a duration, as `10s` or `PT10S`",
    example: "10s",
    schema: string,
  },
  idempotencyKeyHeader: {
    name: "idempotency-key",
    in: "header",
    required: false,
    description: "Requests with the same key are one invocation",
    schema: string,
  },
  idempotencyKeyPath: {
    name: "idempotencyKey",
    in: "path",
    required: true,
    description: "The idempotency key of the request whose result is asked for",
    schema: string,
  },
  key: {
    name: "key",
    in: "path",
    required: true,
    description: "Key of the object, or id of the workflow",
    schema: string,
  },
};

function error(description: string, example: Json): Json {
  return {
    description,
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/ServerError" }, example },
    },
  };
}

/** Answers that handlers share (docs/spec/ingress.md#calls-and-sends). */
export const responses: Json = {
  GenericError: error("What went wrong", {
    code: 500,
    message: "Internal server error",
    source: "invocation",
  }),
  InvocationNotFoundError: error("There is no such invocation", { message: "not found" }),
  InvocationNotReadyError: error("It has no result yet", { message: "not ready" }),
  Send: {
    description: "Accepted, now or earlier",
    content: {
      "application/json": {
        schema: { $ref: "#/components/schemas/Sent" },
        example: {
          invocationId: "inv_1gdJBtdVEcM942bjcDmb1c1khoaJe11Hbz",
          status: "Accepted",
        },
      },
    },
  },
};

/** Bodies that handlers share. Those of handlers end in `Request` or `Response`. */
export const schemas: Json = {
  ServerError: {
    title: "Error",
    type: "object",
    properties: {
      code: { type: "integer", description: "Status of the answer, or of the handler's error" },
      message: string,
      source: {
        enum: ["ingress", "invocation"],
        description: "Whether the server refused, or the handler failed for good",
      },
      stacktrace: string,
      metadata: { type: "object", additionalProperties: string },
    },
    required: ["message"],
  },
  Sent: {
    title: "Sent",
    type: "object",
    properties: {
      invocationId: string,
      status: { enum: ["Accepted", "PreviouslyAccepted"] },
      executionTime: {
        type: "string",
        format: "date-time",
        description: "When it begins, of a delayed request",
      },
    },
    required: ["invocationId", "status"],
  },
};
