import { describe, expect, test } from "vitest";
import type { InputRule, OutputRule } from "../../src/model/schema.ts";
import { discovered, handler, service, setup } from "./_setup.ts";

const uri = "http://localhost:9080/";

const json = { contentType: "application/json", setContentTypeIfEmpty: false };

async function registered(...parts: Parameters<typeof discovered>) {
  const all = await setup();
  all.endpoints.set(uri, discovered(...parts));
  const { json } = await all.register({ uri });
  return { ...all, id: json.id as string, answer: json };
}

describe("a handler", () => {
  test("shows only what it sets itself, as in the reference's sample", async () => {
    const h2 = handler("h2", {
      documentation: "h2 docs",
      metadata: { k: "v" },
      options: {
        idempotencyRetentionMs: 30_000,
        journalRetentionMs: 0,
        retry: { initialIntervalMs: 50, maxAttempts: 2, onMaxAttempts: "pause" },
      },
      input: { required: true, contentType: "application/json" },
      output: json,
    });
    const { get } = await registered([service("Opt", [h2])]);
    const { json: record } = await get("/services/Opt/handlers/h2");
    expect(record).toEqual({
      name: "h2",
      documentation: "h2 docs",
      metadata: { k: "v" },
      idempotency_retention: "30s",
      journal_retention: "0s",
      public: true,
      input_description: "application/json",
      output_description: "application/json",
      retry_policy: { initial_interval: "50ms", max_attempts: 2, on_max_attempts: "Pause" },
    });
    expect((await get("/services/Opt/handlers")).json).toEqual({ handlers: [record] });
  });

  test("shows timeouts and lazy state when it sets them", async () => {
    const options = { inactivityTimeoutMs: 30_000, abortTimeoutMs: 9, lazyState: false };
    const { get } = await registered([service("S", [handler("h", { options })])]);
    expect((await get("/services/S/handlers/h")).json).toMatchObject({
      inactivity_timeout: "30s",
      abort_timeout: "9ms",
      enable_lazy_state: false,
    });
  });

  test("has the type of its access, and none in a plain service", async () => {
    const handlers = (["none", "exclusive", "shared", "run"] as const).map((access) =>
      handler(access, { access })
    );
    const { get } = await registered([service("S", handlers)]);
    const { json } = await get("/services/S/handlers");
    expect(json.handlers.map((one: { ty?: string }) => one.ty))
      .toEqual([undefined, "Exclusive", "Shared", "Workflow"]);
  });

  test("is public only when its service is", async () => {
    const handlers = [handler("open"), handler("closed", { public: false })];
    const { get } = await registered([
      service("Open", handlers),
      service("Closed", handlers, { public: false }),
    ]);
    const shown = async (name: string) =>
      (await get(`/services/${name}`)).json.handlers.map((one: { public: boolean }) => one.public);
    expect(await shown("Open")).toEqual([true, false]);
    expect(await shown("Closed")).toEqual([false, false]);
  });

  /** Asked of the reference, 1.7.12. */
  test.each<[InputRule | undefined, string, unknown]>([
    [undefined, "*/*", undefined],
    [{ required: false }, "none", undefined],
    [{ required: true }, "<invalid rules>", undefined],
    [{ required: false, contentType: "text/plain" }, "text/plain", undefined],
    [{ required: true, contentType: "image/*" }, "image/*", undefined],
    [{ required: false, jsonSchema: { title: "T" } }, "none", undefined],
    [{ required: true, ...json, jsonSchema: { type: "string" } }, "JSON string", {
      type: "string",
    }],
    [{ required: true, ...json, jsonSchema: { title: "T", type: "a" } }, "JSON 'T'", {
      title: "T",
      type: "a",
    }],
    [{ required: true, ...json, jsonSchema: { title: "" } }, "JSON ''", { title: "" }],
    [{ required: true, ...json, jsonSchema: { type: ["string", "null"] } }, json.contentType, {
      type: ["string", "null"],
    }],
    [{ required: true, ...json, jsonSchema: {} }, json.contentType, {}],
    [{ required: true, ...json, jsonSchema: true }, json.contentType, true],
    [{ required: true, ...json, jsonSchema: null }, json.contentType, undefined],
  ])("that takes %j is described as %s", async (input, description, schema) => {
    const { get } = await registered([service("S", [handler("h", input && { input })])]);
    const { json: record } = await get("/services/S/handlers/h");
    expect(record.input_description).toBe(description);
    expect(record.input_json_schema).toEqual(schema);
  });

  /** Asked of the reference, 1.7.12. */
  test.each<[OutputRule | undefined, string, unknown]>([
    [undefined, "application/json", undefined],
    [{ setContentTypeIfEmpty: false }, "none", undefined],
    [{ setContentTypeIfEmpty: true, jsonSchema: {} }, "none", undefined],
    [{ setContentTypeIfEmpty: true, contentType: "text/plain" }, "optional text/plain", undefined],
    [json, json.contentType, undefined],
    [{ ...json, jsonSchema: { title: "X" } }, "JSON 'X'", { title: "X" }],
    [{ ...json, setContentTypeIfEmpty: true, jsonSchema: {} }, "optional application/json", {}],
    [{ ...json, setContentTypeIfEmpty: true, jsonSchema: { type: "a" } }, "JSON a", { type: "a" }],
  ])("that gives %j is described as %s", async (output, description, schema) => {
    const { get } = await registered([service("S", [handler("h", output && { output })])]);
    const { json: record } = await get("/services/S/handlers/h");
    expect(record.output_description).toBe(description);
    expect(record.output_json_schema).toEqual(schema);
  });
});
