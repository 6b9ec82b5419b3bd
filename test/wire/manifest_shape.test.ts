import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../src/errors.ts";
import { utf8 } from "./_bytes.ts";
import {
  failureOf,
  handler,
  manifest,
  parse,
  service,
  withHandler,
  withService,
} from "./_manifest.ts";

describe("what is no manifest has status 500 and no code", () => {
  test.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["a text", "manifest"],
    ["no services", manifest({ services: undefined })],
    ["a service that is none", manifest({ services: [1] })],
    ["a service without handlers", withService({ handlers: undefined })],
    ["a service without type", withService({ ty: undefined })],
    ["an unknown service type", withService({ ty: "ACTOR" })],
    ["an unknown handler type", withHandler({ ty: "ACTOR" })],
    ["an unknown mode", manifest({ protocolMode: "CARRIER_PIGEON" })],
    ["version 0", manifest({ minProtocolVersion: 0 })],
    ["version 5.5", manifest({ minProtocolVersion: 5.5 })],
    ["no version", manifest({ maxProtocolVersion: undefined })],
    ["a negative duration", withService({ abortTimeout: -1 })],
    ["a duration in words", withService({ abortTimeout: "1s" })],
    ["half a millisecond", withService({ abortTimeout: 0.5 })],
    ["negative attempts", withService({ retryPolicyMaxAttempts: -1 })],
    ["metadata that is no text", withService({ metadata: { a: 1 } })],
    ["a service name with a slash", withService({ name: "a/b" })],
    ["a service name that begins with a digit", withService({ name: "1a" })],
    ["a lone underscore", withService({ name: "_" })],
    ["an empty name", withService({ name: "" })],
    ["a line after the name", withService({ name: "Svc\n" })],
    ["a handler name with a dot", withHandler({ name: "a.b" })],
    ["a handler name with a dash", withHandler({ name: "a-b" })],
    ["a handler called __proto__", withHandler({ name: "__proto__" })],
  ])("%s", (_what, document) => {
    expect(failureOf(document)).toMatchObject({ code: null, status: 500 });
  });

  test("bytes that are no JSON, or no UTF-8", () => {
    expect(failureOf(utf8("{"))).toMatchObject({ code: null, status: 500 });
    expect(failureOf(Uint8Array.of(0xc3, 0x28))).toMatchObject({ code: null, status: 500 });
  });

  test("the message says where", () => {
    expect(failureOf(withService({ name: "a/b" })).message).toMatch(
      /^Cannot decode the manifest: services\.0\.name: /,
    );
  });
});

test.each(["a", "_a", "_1", "A.b-c_d", "z9"])("'%s' is a service name", (name) => {
  expect(parse(withService({ name })).services[0]?.name).toBe(name);
});

describe("what is accepted silently", () => {
  test.each<[string, object]>([
    ["no services", manifest({ services: [] })],
    ["a service without handlers", withService({ handlers: [] })],
    ["a workflow without run", withService({ ty: "WORKFLOW", handlers: [] })],
    [
      "a workflow that runs twice",
      withService({
        ty: "WORKFLOW",
        handlers: [handler({ ty: "WORKFLOW" }), { name: "b", ty: "WORKFLOW" }],
      }),
    ],
    ["unknown fields anywhere", {
      ...withHandler({ later: 1, input: { later: 2 } }, { later: [] }),
      later: null,
    }],
    ["null for what is absent", withHandler({ ty: null, input: null, abortTimeout: null })],
    [
      "a schema that refers to itself",
      withHandler({
        input: {
          jsonSchema: { $id: "https://a.b/c", items: [{ $ref: "c" }, { $ref: "#/$defs" }] },
        },
      }),
    ],
    [
      "a property called $ref",
      withHandler({
        input: { jsonSchema: { properties: { $ref: { type: ["string", "null"] } } } },
      }),
    ],
  ])("%s", (_what, document) => {
    expect(() => parse(document)).not.toThrow();
  });

  test("of services and handlers with one name the last counts", () => {
    const twice = manifest({
      services: [
        service({ documentation: "first" }),
        service({ name: "Other" }),
        service({
          documentation: "last",
          handlers: [handler({ documentation: "first" }), handler({ documentation: "last" })],
        }),
      ],
    });
    const { services } = parse(twice);
    expect(services.map(({ name }) => name)).toEqual(["Svc", "Other"]);
    expect(services[0]).toMatchObject({
      documentation: "last",
      handlers: { run: { documentation: "last" } },
    });
  });
});

function isRead(document: unknown): boolean {
  try {
    parse(document);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

const names = [
  "name",
  "ty",
  "services",
  "handlers",
  "metadata",
  "input",
  "contentType",
  "jsonSchema",
];

/** The value in every place of a manifest that has this name, and others. */
function places(name: string, value: unknown): object[] {
  const fields = { [name]: value };
  const io = withHandler({ input: fields, output: fields });
  return [manifest(fields), withService(fields), withHandler(fields), io];
}

test("a value that cannot be printed is a Failure, too", () => {
  const value = { toString: "" };
  expect(isRead(withService({ name: value }))).toBe(false);
  expect(isRead(withHandler({ name: value }))).toBe(false);
});

test("any JSON gives a manifest or a Failure", () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, value) => {
      for (const document of places(name, value)) {
        expect(isRead(document)).toBeTypeOf("boolean");
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ["lists", "[", "]"],
  ["objects", '{"not":', "}"],
  ["properties", '{"properties":{"a":', "}}"],
])("%s nested deeper than the stack give a manifest or a Failure", (_what, open, close) => {
  const deep: unknown = JSON.parse(`${open.repeat(50_000)}{}${close.repeat(50_000)}`);
  for (const document of names.flatMap((name) => places(name, deep))) {
    expect(isRead(document)).toBeTypeOf("boolean");
  }
});
