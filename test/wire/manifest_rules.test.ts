import { describe, expect, test } from "vitest";
import { failureOf, withHandler } from "./_manifest.ts";

describe("handlers that contradict themselves or their service", () => {
  const object = { ty: "VIRTUAL_OBJECT" };
  const workflow = { ty: "WORKFLOW" };
  test.each<[string, object, string]>([
    [
      "a workflow retention elsewhere",
      withHandler({ workflowCompletionRetention: 1 }, object),
      "it sets workflowCompletionRetention, but is no workflow handler",
    ],
    [
      "a workflow retention of a shared handler",
      withHandler({ workflowCompletionRetention: 1, ty: "SHARED" }, workflow),
      "it sets workflowCompletionRetention, but is no workflow handler",
    ],
    [
      "an idempotency retention of a workflow's run",
      withHandler({ idempotencyRetention: 1, ty: "WORKFLOW" }, workflow),
      "it sets idempotencyRetention, but is a workflow handler",
    ],
    [
      "a public handler in a private service",
      withHandler({ ingressPrivate: false }, { ingressPrivate: true }),
      "it is public, but its service is private",
    ],
    [
      "an input type without subtype",
      withHandler({ input: { contentType: "json" } }),
      "its input content type 'json' is malformed",
    ],
    [
      "an input type that is half a wildcard",
      withHandler({ input: { contentType: "*/json" } }),
      "its input content type '*/json' is malformed",
    ],
    [
      "an output type that is no header",
      withHandler({ output: { contentType: "text/plain\n" } }),
      "its output content type 'text/plain\n' is malformed",
    ],
    [
      "an input schema that is none",
      withHandler({ input: { jsonSchema: 1 } }),
      "its input JSON schema is invalid: a schema must be an object or a boolean: 1",
    ],
    [
      "an output schema with an external reference",
      withHandler({ output: { jsonSchema: { items: { $ref: "https://example.com/s" } } } }),
      "its output JSON schema is invalid: the schema contains an external reference " +
      "https://example.com/s",
    ],
    [
      "a schema of an unknown type",
      withHandler({ input: { jsonSchema: { properties: { a: { type: "int" } } } } }),
      "its input JSON schema is invalid: unknown type 'int'",
    ],
    [
      "a schema whose alternatives are no list",
      withHandler({ input: { jsonSchema: { anyOf: {} } } }),
      "its input JSON schema is invalid: 'anyOf' must be a list: {…}",
    ],
    [
      "a negative retry factor",
      withHandler({ retryPolicyExponentiationFactor: -1 }),
      "its retry factor -1 is negative",
    ],
  ])("%s", (_what, document, why) => {
    expect(failureOf(document)).toMatchObject({
      code: null,
      status: 400,
      message: `Cannot register handler 'Svc/run': ${why}`,
    });
  });
});
