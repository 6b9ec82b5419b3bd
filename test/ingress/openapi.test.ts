import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { printInvocationId } from "../../src/model/id.ts";
import { fixture } from "./_fixture.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const flowControl = { scopes: true, scopedObjects: true };

async function documentOf(options: Parameters<typeof fixture>[0] = {}): Promise<Document> {
  const response = await fixture(options).ask("GET", "/openapi");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("application/json");
  return await response.json() as Document;
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation }))
  );

test("the description of the ingress is valid OpenAPI 3.1, of this version of the server", async () => {
  const document = await documentOf({ version: "1.2.3", flowControl });
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe("1.2.3");
  expect(
    await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>),
  )
    .toEqual({ valid: true });
});

test("it has every route, each operation once, under a tag that it explains", async () => {
  const document = await documentOf();
  expect(Object.keys(document.paths).sort()).toEqual([
    "/openapi",
    "/svc/attach",
    "/svc/attach/{invocationId}",
    "/svc/awakeables/{awakeableId}/reject",
    "/svc/awakeables/{awakeableId}/resolve",
    "/svc/call/{service}/{handler}",
    "/svc/call/{service}/{key}/{handler}",
    "/svc/health",
    "/svc/lookup",
    "/svc/output",
    "/svc/output/{invocationId}",
    "/svc/ready",
    "/svc/send/{service}/{handler}",
    "/svc/send/{service}/{key}/{handler}",
  ]);
  const operations = operationsOf(document).map(({ operation }) => operation);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  const tags = document.tags.map(({ name }) => name);
  expect([...new Set(operations.flatMap((one) => one.tags))].sort()).toEqual(tags.sort());
});

test("it has the routes in a scope while scopes are enabled", async () => {
  const paths = async (options = {}) => Object.keys((await documentOf(options)).paths);
  const usual = new Set(await paths());
  expect((await paths({ flowControl })).filter((path) => !usual.has(path))).toEqual([
    "/svc/scope/{scope}/call/{service}/{handler}",
    "/svc/scope/{scope}/send/{service}/{handler}",
    "/svc/scope/{scope}/call/{service}/{key}/{handler}",
    "/svc/scope/{scope}/send/{service}/{key}/{handler}",
  ]);
});

test("a client that knows nothing else gets an answer that each operation names", async () => {
  const known: Record<string, string> = {
    handler: "set",
    key: "k",
    invocationId: printInvocationId(new Uint8Array(24)),
    awakeableId: "prom_1NMyOAvDK2CcBjUH4Rmb7eGBp0DNNDnmsAAAAAQ",
  };
  const target = { target: "workflow", workflowName: "Wf", workflowKey: "k" };
  const document = await documentOf({ flowControl });
  for (const { path, method, operation } of operationsOf(document)) {
    const names: Record<string, string> = path.includes("{key}")
      ? { ...known, service: "Obj" }
      : { ...known, service: "Svc", handler: "opt" };
    const place = path.replaceAll(/{(\w+)}/g, (_all, name) => names[name] ?? name);
    const body = /(attach|output|lookup)$/.test(path) ? { body: JSON.stringify(target) } : {};
    const response = await fixture({ flowControl }).ask(method.toUpperCase(), place, body);
    const named = Object.keys(operation.responses).filter((one) => one !== "default");
    expect(named, `${method} ${place}`).toContain(String(response.status));
  }
});

test("other methods are refused, and nothing is below it", async () => {
  const { ask } = fixture();
  expect((await ask("POST", "/openapi")).status).toBe(405);
  expect((await ask("GET", "/openapi/")).status).toBe(200);
  expect((await ask("GET", "/openapi/x")).status).toBe(404);
});
