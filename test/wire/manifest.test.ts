import { Failure } from "../../src/errors.ts";
import { describe, expect, test } from "vitest";
import { isPublic } from "../../src/model/schema.ts";
import { utf8 } from "./_bytes.ts";
import {
  failureOf,
  handler,
  handlerOf,
  manifest,
  parse,
  service,
  withHandler,
  withService,
} from "./_manifest.ts";

test("the smallest manifest", () => {
  expect(parse(manifest())).toEqual({
    mode: "bidi",
    minProtocol: 5,
    maxProtocol: 7,
    services: [{
      name: "Svc",
      type: "service",
      public: true,
      options: {},
      handlers: {
        run: {
          name: "run",
          access: "none",
          public: true,
          options: {},
          output: { contentType: "application/json", setContentTypeIfEmpty: false },
        },
      },
    }],
  });
});

const options = {
  inactivityTimeout: 1,
  abortTimeout: 2,
  journalRetention: 3,
  enableLazyState: true,
  retryPolicyInitialInterval: 5,
  retryPolicyMaxInterval: 6,
  retryPolicyMaxAttempts: 7,
  retryPolicyExponentiationFactor: 1.5,
  retryPolicyOnMaxAttempts: "KILL",
};
const read = {
  inactivityTimeoutMs: 1,
  abortTimeoutMs: 2,
  journalRetentionMs: 3,
  lazyState: true,
  retry: {
    initialIntervalMs: 5,
    maxIntervalMs: 6,
    maxAttempts: 7,
    factor: 1.5,
    onMaxAttempts: "kill",
  },
};
const texts = { documentation: "words", metadata: { a: "b" } };

const full = manifest({
  protocolMode: "REQUEST_RESPONSE",
  lambdaCompression: "zstd",
  services: [service({
    ty: "WORKFLOW",
    ...options,
    ...texts,
    idempotencyRetention: 4,
    handlers: [handler({
      ty: "WORKFLOW",
      ...options,
      ...texts,
      workflowCompletionRetention: 8,
      ingressPrivate: true,
      input: { required: true, contentType: "application/*", jsonSchema: { type: "object" } },
      output: { contentType: "text/plain", setContentTypeIfEmpty: true, jsonSchema: true },
    })],
  })],
});
test("every field of version 4", () => {
  expect(parse(full)).toEqual({
    mode: "requestResponse",
    minProtocol: 5,
    maxProtocol: 7,
    services: [{
      name: "Svc",
      type: "workflow",
      public: true,
      options: { ...read, idempotencyRetentionMs: 4 },
      ...texts,
      handlers: {
        run: {
          name: "run",
          access: "run",
          public: false,
          options: { ...read, workflowRetentionMs: 8 },
          input: { required: true, contentType: "application/*", jsonSchema: { type: "object" } },
          output: { contentType: "text/plain", setContentTypeIfEmpty: true, jsonSchema: true },
          ...texts,
        },
      },
    }],
  });
});

describe("which handler type goes with which service type", () => {
  test.each([
    ["SERVICE", undefined, "none"],
    ["SERVICE", "SHARED", "none"],
    ["VIRTUAL_OBJECT", undefined, "exclusive"],
    ["VIRTUAL_OBJECT", "EXCLUSIVE", "exclusive"],
    ["VIRTUAL_OBJECT", "SHARED", "shared"],
    ["WORKFLOW", undefined, "shared"],
    ["WORKFLOW", "SHARED", "shared"],
    ["WORKFLOW", "WORKFLOW", "run"],
  ])("%s with %s: %s", (type, ty, access) => {
    expect(handlerOf(withHandler({ ty }, { ty: type }))?.access).toBe(access);
  });

  test.each([
    ["SERVICE", "EXCLUSIVE"],
    ["SERVICE", "WORKFLOW"],
    ["VIRTUAL_OBJECT", "WORKFLOW"],
    ["WORKFLOW", "EXCLUSIVE"],
  ])("%s with %s is refused", (type, ty) => {
    expect(failureOf(withHandler({ ty }, { ty: type }))).toMatchObject({
      code: null,
      status: 400,
      message: `Cannot register handler 'Svc/run': a ${type} cannot have ${ty} handlers`,
    });
  });
});

describe("versions and mode", () => {
  test.each<[string, object, string]>([
    ["no mode", { protocolMode: undefined }, "missing protocol mode"],
    ["mode null", { protocolMode: null }, "missing protocol mode"],
    ["min above max", { minProtocolVersion: 7, maxProtocolVersion: 6 }, "is above the maximum 6"],
    ["above int32", { maxProtocolVersion: 2 ** 31 }, "protocol version 2147483648 is above"],
  ])("%s is META0013", (_what, fields, text) => {
    const failure = failureOf(manifest(fields));
    expect(failure).toMatchObject({ code: "META0013", status: 500 });
    expect(failure.message).toContain(text);
  });

  test.each([[1, 3], [8, 9]])("%i to %i is META0012", (min, max) => {
    const versions = { minProtocolVersion: min, maxProtocolVersion: max };
    expect(failureOf(manifest(versions))).toMatchObject({
      code: "META0012",
      message: `[META0012] unsupported service protocol versions: [${min}, ${max}]. ` +
        `Supported versions by this runtime are [5, 7]`,
    });
  });

  test("versions we do not know yet are kept as announced", () => {
    expect(parse(manifest({ maxProtocolVersion: 99 }))).toMatchObject({ maxProtocol: 99 });
    const largest = manifest({ maxProtocolVersion: 2 ** 31 - 1 });
    expect(parse(largest)).toMatchObject({ maxProtocol: 2 ** 31 - 1 });
  });
});

test.each(["restate", "Restate", "RESTATEfoo", "restate.x", "svc", "openapi", "OpenAPI"])(
  "a service called '%s' is META0005",
  (name) => {
    expect(failureOf(withService({ name }))).toMatchObject({ code: "META0005", status: 400 });
  },
);

describe("input and output", () => {
  test.each<[string, unknown, unknown]>([
    ["absent: anything goes", undefined, undefined],
    ["empty: only empty requests", {}, { required: false }],
    ["a type", { contentType: "text/plain" }, { required: false, contentType: "text/plain" }],
    ["any type", { contentType: "*/*" }, { required: false, contentType: "*/*" }],
    [
      "a type with parameters, which are shown",
      { contentType: "text/plain; charset=utf-8" },
      { required: false, contentType: "text/plain; charset=utf-8" },
    ],
    [
      "a list of types, which is shown",
      { contentType: "text/*, image/*" },
      { required: false, contentType: "text/*, image/*" },
    ],
    ["required", { required: true }, { required: true }],
  ])("input %s", (_what, input, rule) => {
    expect(handlerOf(withHandler({ input }))?.input).toEqual(rule);
  });

  test("an output without type sets none", () => {
    expect(handlerOf(withHandler({ output: {} }))?.output).toEqual({
      setContentTypeIfEmpty: false,
    });
  });

  test("an output of the empty type is no reason to refuse an endpoint", () => {
    const output = { contentType: "" };
    expect(handlerOf(withHandler({ output }))?.output).toMatchObject(output);
  });
});

test.each([
  ["nothing", {}, [false, true]],
  ["itself private", { ingressPrivate: true }, [false, false]],
  ["itself public", { ingressPrivate: false }, [true, true]],
])("of a handler that declares %s, its service decides accordingly", (_what, fields, expected) => {
  const read = handlerOf(withHandler(fields));
  expect([false, true].map((open) => read && isPublic({ public: open }, read))).toEqual(expected);
});

test("a private service may have handlers that declare nothing, or that they are private", () => {
  for (const fields of [{}, { ingressPrivate: true }]) {
    const document = withHandler(fields, { ingressPrivate: true });
    expect(parse(document).services[0]?.public).toBe(false);
    expect(handlerOf(document)?.public).toBe(fields.ingressPrivate !== true);
  }
});

test("no attempt at all means one", () => {
  const read = handlerOf(withHandler({ retryPolicyMaxAttempts: 0 }));
  expect(read?.options.retry).toEqual({ maxAttempts: 1 });
});

test("a manifest may be given as bytes", () => {
  expect(parse(utf8(JSON.stringify(manifest())))).toEqual(parse(manifest()));
});

test("more services and handlers than the limit are META0013, and the message says how many", () => {
  const many = (count: number) =>
    manifest({
      services: Array.from({ length: count }, (_, i) => service({ name: `Svc${i}` })),
    });
  expect(parse(many(500)).services).toHaveLength(500);
  expect(() => parse(many(501))).toThrow(Failure);
  expect(() => parse(many(501))).toThrow(
    /\[META0013\].* 501 services and 501 handlers, .* 1000 .*'admin\.deployment-parts-limit'/,
  );
  const handlers = Array.from({ length: 1000 }, (_, i) => handler({ name: `h${i}` }));
  expect(() => parse(withService({ handlers }))).toThrow("1 services and 1000 handlers");
});
