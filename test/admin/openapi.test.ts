import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { problem } from "./_contract.ts";
import { discovered, handler, service, setup } from "./_setup.ts";

type Json = Record<string, unknown>;
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Json }> };
  readonly responses: Record<string, { readonly content?: Json }>;
}
interface Document extends Json {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

let document: Document;
let all: Awaited<ReturnType<typeof setup>>;

beforeAll(async () => {
  all = await setup();
  document = (await all.get("/openapi")).json;
});

describe("the description of the admin interface", () => {
  test("is valid OpenAPI 3.1", async () => {
    expect(document.openapi).toBe("3.1.0");
    const validated = await new Validator().validate(structuredClone(document));
    expect(validated).toEqual({ valid: true });
  });

  test("is the same under every prefix, and spells codes like the caller", async () => {
    expect((await all.get("/v3/openapi")).json).toEqual(document);
    for (const field of ["svc_code", "restate_code"]) {
      expect(JSON.stringify(document)).toContain(`"${field}"`);
    }
    const alias = await all.send("GET", "/openapi", { headers: { "user-agent": "restate-cli" } });
    expect(alias.text).toContain('"restate_code"');
    expect(alias.text).not.toContain('"svc_code"');
  });

  test("names every operation once, and all that clients know", () => {
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([
      "health",
      "version",
      "cluster_health",
      "list_deployments",
      "create_deployment",
      "get_deployment",
      "update_deployment",
      "delete_deployment",
      "list_services",
      "get_service",
      "modify_service",
      "modify_service_state",
      "get_service_openapi",
      "list_service_handlers",
      "get_service_handler",
      "delete_invocation",
      "cancel_invocation",
      "kill_invocation",
      "pause_invocation",
      "resume_invocation",
      "restart_as_new_invocation",
      "purge_invocation",
      "purge_journal",
    ]));
  });

  test("groups operations by the tags of the interface", () => {
    const tags = operations().map(({ operation: { operationId, tags } }) => [operationId, tags]);
    expect(Object.fromEntries(tags)).toMatchObject({
      health: ["health"],
      ready: ["health"],
      cluster_health: ["cluster_health"],
      version: ["version"],
      create_deployment: ["deployment"],
      list_services: ["service"],
      list_service_handlers: ["service_handler"],
      resume_invocation: ["invocation"],
      query: ["introspection"],
    });
    const described = (document["tags"] as readonly { name: string }[]).map(({ name }) => name);
    expect(described).toEqual(expect.arrayContaining([...new Set(tags.flatMap(([, tag]) => tag))]));
  });

  test("has the shapes of the specification for errors and the version", () => {
    const { schemas } = document["components"] as { readonly schemas: Record<string, Json> };
    expect(schemas["ErrorDescriptionResponse"]).toMatchObject({ required: ["message"] });
    expect(schemas["VersionInformation"]).toMatchObject({
      properties: {
        min_admin_api_version: { type: "integer", minimum: 0 },
        max_admin_api_version: { type: "integer", minimum: 0 },
      },
    });
  });

  test("describes what a query answers in both of its forms", () => {
    const { 200: rows } = operationOf("/query", "post").responses;
    expect(Object.keys(rows?.content ?? {}))
      .toEqual(["application/json", "application/vnd.apache.arrow.stream"]);
  });

  test("has a name for every shape within one of several", () => {
    const { schemas } = document["components"] as { readonly schemas: Record<string, Json> };
    for (const name of ["Deployment", "DetailedDeployment"]) {
      for (const { properties } of schemas[name]?.["anyOf"] as readonly Json[]) {
        for (const [field, of] of Object.entries(properties as Record<string, Json>)) {
          const { type, items = {} } = of;
          expect([type, (items as Json)["type"]], `${name}.${field}`).not.toContain("object");
        }
      }
    }
  });

  test("lists values whose names differ in more than their case", () => {
    const { parameters = [] } = operationOf("/invocations/{invocation_id}", "delete");
    const mode = parameters.find(({ name }) => name === "mode");
    expect(mode?.schema["enum"]).toEqual(["Cancel", "Kill", "Purge"]);
  });

  test("describes bodies by the structs that check them", () => {
    const register = bodyOf("/deployments", "post");
    const accepts = (value: unknown) => problem(document, { schema: register, value }) === "";
    expect(accepts({ uri: "http://x", force: null, additional_headers: { a: "b" } })).toBe(true);
    expect(accepts({ uri: 5 })).toBe(false);
    expect(accepts({ additional_headers: { a: 5 } })).toBe(false);
    expect(register["required"]).toBeUndefined();
    expect(bodyOf("/services/{service}/state", "post")["required"])
      .toEqual(["object_key", "new_state"]);
  });

  test("drives a client that knows nothing else through every operation", async () => {
    const uri = "http://localhost:9080/";
    all.endpoints.set(uri, discovered([service("Svc", [handler("h")])]));
    const { json } = await all.register({ uri });
    const known: Record<string, string> = {
      deployment: json.id,
      service: "Svc",
      handler: "h",
      invocation_id: "inv_1fsoycpxabNo5CdlVE5nsQFWhOBUclDF9n",
      vqueue_id: `vq_1${"0".repeat(33)}`,
      cluster_name: "k",
      subscription: `sub_1${"0".repeat(22)}`,
    };
    const deletions = operations().filter(({ method }) => method === "delete");
    for (const { path, method, operation } of [...operations(), ...deletions]) {
      // There is no database here that could be asked.
      if (operation.operationId === "query") continue;
      const { parameters = [], requestBody } = operation;
      const place = path.replaceAll(/{(\w+)}/g, (_all, name) => known[name] ?? name);
      for (const one of parameters.filter((each) => each.in === "path")) {
        expect(Object.keys(known), operation.operationId).toContain(one.name);
      }
      const init = requestBody && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(example(requestBody.content["application/json"]?.schema ?? {})),
      };
      // `send` holds the answer to the document: status and shape.
      const { status } = await all.send(method.toUpperCase(), place, init ?? {});
      expect(status, operation.operationId).not.toBe(405);
      expect(status, operation.operationId).toBeLessThan(501);
    }
  });
});

function operations() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  );
}

function operationOf(path: string, method: string): Operation {
  const operation = document.paths[path]?.[method];
  if (!operation) throw new Error(`There is no ${method} ${path}`);
  return operation;
}

function bodyOf(path: string, method: string): Json {
  return operationOf(path, method).requestBody?.content["application/json"]?.schema ?? {};
}

/** The least value that a schema takes. */
function example(schema: Json): unknown {
  switch ([schema["type"]].flat()[0]) {
    case "object": {
      const properties = schema["properties"] as Record<string, Json> | undefined ?? {};
      const names = schema["required"] as string[] | undefined ?? [];
      return Object.fromEntries(names.map((name) => [name, example(properties[name] ?? {})]));
    }
    case "array":
      return [];
    case "string":
      return "";
    default:
      return null;
  }
}
