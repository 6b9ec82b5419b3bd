import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { embed } from "../../src/admin/openapi/embed.ts";
import type { HandlerSchema } from "../../src/model/schema.ts";
import { discovered, handler, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";
const json = "application/json";
const schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  title: "In",
  properties: { a: { $ref: "#/$defs/A" }, self: { $ref: "#" } },
  $defs: { A: { type: "string" } },
  required: ["a"],
};
const tuned = handler("tuned", {
  documentation: "Does much",
  input: { required: true, contentType: json, jsonSchema: schema },
  output: {
    contentType: "text/plain",
    setContentTypeIfEmpty: false,
    jsonSchema: { type: "number" },
  },
});

const bare = handler("bare", {
  input: { required: false, contentType: "application/octet-stream" },
  output: { contentType: "application/octet-stream", setContentTypeIfEmpty: false },
});

interface Operation {
  readonly requestBody?: Bodied;
  readonly responses: Record<string, Bodied>;
  readonly tags?: readonly string[];
}
interface Bodied {
  readonly content?: Record<string, object>;
}

function operationsOf(path: unknown): readonly Operation[] {
  return Object.values(path as Record<string, Operation>);
}

async function documentOf(
  type: "service" | "virtual_object" | "workflow",
  handlers: readonly HandlerSchema[],
  more: Parameters<typeof service>[2] = {},
) {
  const { endpoints, register, send } = await setup();
  endpoints.set(uri, discovered([service("Svc", handlers, { type, ...more })]));
  await register({ uri });
  const { status, json } = await send("GET", "/services/Svc/openapi");
  expect(status).toBe(200);
  const validated = await new Validator().validate(structuredClone(json));
  expect(validated).toEqual({ valid: true });
  return json;
}

describe("the description of a service", () => {
  test("names it, its revision and the ingress", async () => {
    const document = await documentOf("service", [handler("h")], { documentation: "Hello" });
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "Svc", version: "1", description: "Hello" },
      servers: [{ url: "http://127.0.0.1:8080/" }],
    });
  });

  test("has paths to call, send, attach and output, by idempotency key", async () => {
    const { paths } = await documentOf("service", [handler("h")]);
    expect(Object.keys(paths)).toEqual([
      "/svc/call/Svc/h",
      "/svc/send/Svc/h",
      "/svc/invocation/Svc/h/{idempotencyKey}/attach",
      "/svc/invocation/Svc/h/{idempotencyKey}/output",
    ]);
    expect(paths["/svc/call/Svc/h"].post).toMatchObject({
      operationId: "h",
      parameters: [{ $ref: "#/components/parameters/idempotencyKeyHeader" }],
      requestBody: { required: false, content: { "*/*": {} } },
      responses: { 200: { content: { [json]: {} } } },
    });
    expect(Object.keys(paths["/svc/send/Svc/h"].post.responses)).toEqual(["200", "202", "default"]);
    expect(Object.keys(paths["/svc/invocation/Svc/h/{idempotencyKey}/output"].get.responses))
      .toEqual(["200", "404", "470", "default"]);
  });

  test("says of every body what it is, if only that it may be anything", async () => {
    const { paths, tags } = await documentOf("service", [handler("h"), tuned, bare]);
    const names = new Set<string>();
    for (const path of Object.values(paths)) {
      for (const { requestBody, responses, tags = [] } of operationsOf(path)) {
        for (const one of tags) names.add(one);
        for (const { content = {} } of [requestBody ?? {}, responses[200] ?? {}]) {
          for (const [type, one] of Object.entries(content)) {
            expect(one, type).toHaveProperty("schema");
          }
        }
      }
    }
    expect(tags.map(({ name }: { readonly name: string }) => name)).toEqual([...names]);
  });

  test("of an object has keys, and of a workflow no idempotency keys", async () => {
    const object = await documentOf("virtual_object", [handler("h", { access: "exclusive" })]);
    expect(Object.keys(object.paths)).toEqual([
      "/svc/call/Svc/{key}/h",
      "/svc/send/Svc/{key}/h",
      "/svc/invocation/Svc/{key}/h/{idempotencyKey}/attach",
      "/svc/invocation/Svc/{key}/h/{idempotencyKey}/output",
    ]);
    const handlers = [handler("run", { access: "run" }), handler("ask", { access: "shared" })];
    const workflow = await documentOf("workflow", handlers);
    expect(Object.keys(workflow.paths)).toEqual([
      "/svc/call/Svc/{key}/run",
      "/svc/send/Svc/{key}/run",
      "/svc/workflow/Svc/{key}/attach",
      "/svc/workflow/Svc/{key}/output",
      "/svc/call/Svc/{key}/ask",
      "/svc/send/Svc/{key}/ask",
    ]);
    expect(JSON.stringify(workflow.paths)).not.toContain("idempotency");
  });

  test("carries the SDK's JSON schemas, with their references made to fit", async () => {
    const { paths, components } = await documentOf("service", [tuned]);
    const { post } = paths["/svc/call/Svc/tuned"];
    expect(post.description).toBe("Does much");
    expect(post.requestBody).toEqual({
      required: true,
      content: { [json]: { schema: { $ref: "#/components/schemas/tunedRequest" } } },
    });
    expect(post.responses[200].content).toEqual({
      "text/plain": { schema: { $ref: "#/components/schemas/tunedResponse" } },
    });
    expect(components.schemas.tunedResponse).toEqual({ type: "number" });
    expect(components.schemas.tunedRequest).toEqual({
      type: "object",
      title: "In",
      properties: {
        a: { $ref: "#/components/schemas/tunedRequest/$defs/A" },
        self: { $ref: "#/components/schemas/tunedRequest" },
      },
      $defs: { A: { type: "string" } },
      required: ["a"],
    });
  });

  test("leaves out bodies that there are none of", async () => {
    const nothing = handler("h", {
      input: { required: false },
      output: { setContentTypeIfEmpty: false },
    });
    const { paths } = await documentOf("service", [nothing]);
    const { post } = paths["/svc/call/Svc/h"];
    expect(post).not.toHaveProperty("requestBody");
    expect(post.responses[200]).not.toHaveProperty("content");
  });

  test("leaves out what cannot be called", async () => {
    const handlers = [handler("h"), handler("hidden", { public: false })];
    expect(Object.keys((await documentOf("service", handlers)).paths)).toHaveLength(4);
    expect((await documentOf("service", handlers, { public: false })).paths).toEqual({});
    expect((await documentOf("service", [])).paths).toEqual({});
  });

  test("gives no two operations the same id, whatever handlers are called", async () => {
    const names = ["h", "hSend", "hSend_", "hAttach", "ServerSend", "Server"];
    const handlers = names.map((name) => ({ ...tuned, name }));
    const { paths, components } = await documentOf("service", handlers);
    const ids = Object.values(paths as Record<string, Record<string, { operationId: string }>>)
      .flatMap((methods) => Object.values(methods)).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(names.length * 4);
    expect(Object.keys(components.schemas)).toHaveLength(names.length * 2 + 2);
  });

  test("speaks like the caller", async () => {
    const { endpoints, register, send } = await setup();
    endpoints.set(uri, discovered([service("Svc")]));
    await register({ uri });
    const headers = { "user-agent": "restate-cli" };
    const { json } = await send("GET", "/services/Svc/openapi", { headers });
    expect(Object.keys(json.paths)[0]).toBe("/restate/call/Svc/h");
    expect((await send("GET", "/services/Nope/openapi")).status).toBe(404);
  });
});

describe("a schema that becomes part of a document", () => {
  const place = "#/components/schemas/X";

  test("may be anything that JSON is", () => {
    for (const one of [true, false, {}, { enum: [null] }]) expect(embed(one, place)).toEqual(one);
  });

  test("may call itself by its id", () => {
    const own = {
      $id: "http://x/y",
      items: { $ref: "http://x/y#/$defs/a" },
      not: { $ref: "http://x/y" },
    };
    expect(embed(own, place)).toEqual({
      items: { $ref: `${place}/$defs/a` },
      not: { $ref: place },
    });
  });

  test("leaves parts with an id, anchors and data alone", () => {
    const part = { anyOf: [{ $id: "http://x/z", items: { $ref: "#/a" } }] };
    expect(embed(part, place)).toEqual(part);
    const named = { properties: { $ref: { const: { $ref: "#/x" } } } };
    expect(embed(named, place)).toEqual(named);
    const rest = { $ref: "#name", default: { $ref: "#/a" }, enum: [{ $ref: "#" }] };
    expect(embed(rest, place)).toEqual(rest);
  });

  test("is cut where it is nested too deep", () => {
    let deep: unknown = { type: "string" };
    for (let i = 0; i < 5000; i++) deep = { items: deep };
    expect(JSON.stringify(embed(deep, place)).length).toBeLessThan(5000);
  });
});
