import { expect } from "vitest";

type Json = Record<string, unknown>;

interface Answered {
  readonly method: string;
  readonly path: string;
  readonly answer: { readonly status: number; readonly text: string; readonly json: unknown };
}

/**
 * Holds an answer of the admin interface to its own OpenAPI document: every status must be listed
 * for the operation, and the body be what is said of it. Paths that are not described pass.
 */
export function checkAnswer(document: Json, { method, path, answer }: Answered): void {
  const paths = document["paths"] as Record<string, Json>;
  const asked = path.replace(/^\/v[2-4](?=\/)/, "").replace(/[?#].*/, "");
  const found = Object.keys(paths).find((one) => matches(one, asked));
  const operation = paths[found ?? ""]?.[method.toLowerCase()] as Json | undefined;
  if (!operation) return;
  const responses = operation["responses"] as Record<string, Json>;
  const what = `${method} ${found} answered ${answer.status}`;
  expect(Object.keys(responses), what).toContain(String(answer.status));
  const response = resolve(document, responses[String(answer.status)] ?? {});
  const content = response["content"] as Record<string, { schema: Json }> | undefined;
  if (!content) return expect(answer.text, what).toBe("");
  const json = content["application/json"];
  if (json) expect(problem(document, { schema: json.schema, value: answer.json }), what).toBe("");
}

function matches(template: string, path: string): boolean {
  const [expected, actual] = [template.split("/"), path.split("/")];
  return expected.length === actual.length &&
    expected.every((part, at) => part.startsWith("{") ? actual[at] !== "" : part === actual[at]);
}

function resolve(document: Json, value: Json): Json {
  const { $ref } = value;
  if (typeof $ref !== "string") return value;
  const parts = $ref.slice(2).split("/");
  return parts.reduce<Json>((within, part) => within[part] as Json, document);
}

interface Checked {
  readonly schema: Json;
  readonly value: unknown;
  readonly at?: string;
}

/** Why a value does not fit a schema, in the few keywords that our documents use; "" when it does. */
export function problem(document: Json, { schema: given, value, at = "$" }: Checked): string {
  const schema = resolve(document, given);
  const { type, anyOf, items, properties, required = [], additionalProperties } = schema;
  const one = (inner: unknown, part: unknown, name: string | number) =>
    problem(document, { schema: inner as Json, value: part, at: `${at}.${name}` });
  if (Array.isArray(anyOf)) {
    const problems = anyOf.map((each) => problem(document, { schema: each, value, at }));
    return problems.includes("") ? "" : problems.join(" | ");
  }
  if (type !== undefined && ![type].flat().includes(typeOf(value, [type].flat()))) {
    return `${at} is not ${type}`;
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value)) {
    return `${at} is not listed`;
  }
  if (Array.isArray(value)) {
    return items ? value.map((part, index) => one(items, part, index)).find((it) => it) ?? "" : "";
  }
  if (typeof value !== "object" || value === null) return "";
  const missing = (required as string[]).find((name) => !Object.hasOwn(value, name));
  if (missing) return `${at} has no ${missing}`;
  for (const [name, part] of Object.entries(value)) {
    const inner = (properties as Json | undefined)?.[name] ?? additionalProperties;
    // Our own answers hold nothing that is not described.
    if (inner === undefined && properties) return `${at}.${name} is not described`;
    const why = inner ? one(inner, part, name) : "";
    if (why) return why;
  }
  return "";
}

function typeOf(value: unknown, wanted: readonly unknown[]): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value) && wanted.includes("integer")) return "integer";
  return typeof value;
}
