/** The types a JSON schema may name (JSON Schema draft 2020-12, validation, section 6.1.1). */
const TYPES: ReadonlySet<unknown> = new Set([
  "null",
  "boolean",
  "object",
  "array",
  "number",
  "string",
  "integer",
]);

/** Keywords that hold one schema, a list of schemas, schemas by name: by draft 4 to 2020-12. */
const ONE: ReadonlySet<string> = new Set([
  "additionalProperties",
  "contains",
  "else",
  "if",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const LIST: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Schemas everybody has. */
const BUILT_IN = /^https?:\/\/json-schema\.org\//;

type Json = Readonly<Record<string, unknown>>;

/**
 * What is wrong with a JSON schema, or undefined. Checked: that every subschema is an object or a
 * boolean, that types are known, that references stay within the document
 * (docs/spec/service-protocol.md#manifests). Not checked: anything that only shows when a document
 * is validated, which never happens here.
 */
export function schemaProblem(schema: unknown): string | undefined {
  const references: string[] = [];
  const ids: string[] = [];
  // A list instead of recursion: a document nested deep enough would overflow the stack.
  const open: unknown[] = [schema];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "boolean") continue;
    if (!isObject(next)) return `a schema must be an object or a boolean: ${print(next)}`;
    const problem = typeProblem(next.type) ?? openChildren(next, open);
    if (problem) return problem;
    if (typeof next.$ref === "string") references.push(next.$ref);
    if (typeof next.$id === "string") ids.push(next.$id);
  }
  const external = references.find((reference) => isExternal(reference, ids));
  return external && `the schema contains an external reference ${external}`;
}

function openChildren(schema: Json, open: unknown[]): string | undefined {
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.has(keyword)) open.push(value);
    else if (keyword === "items") { for (const one of [value].flat()) open.push(one); }
    else if (LIST.has(keyword)) {
      if (!Array.isArray(value)) return `'${keyword}' must be a list: ${print(value)}`;
      for (const one of value) open.push(one);
    } else if (NAMED.has(keyword)) {
      if (!isObject(value)) return `'${keyword}' must be an object: ${print(value)}`;
      for (const one of Object.values(value)) open.push(one);
    }
  }
  return undefined;
}

function typeProblem(type: unknown): string | undefined {
  if (type === undefined) return undefined;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const unknownType = types.find((one) => !TYPES.has(one));
  return unknownType === undefined ? undefined : `unknown type ${print(unknownType)}`;
}

/** Whether a reference points out of the document: not at a part of it, nor at an id in it. */
function isExternal(reference: string, ids: readonly string[]): boolean {
  const [base = ""] = reference.split("#", 1);
  if (base === "" || BUILT_IN.test(base)) return false;
  return !ids.some((id) => {
    const [target] = id.split("#", 1);
    return target === base ||
      URL.canParse(base, ids[0]) && new URL(base, ids[0]).href === target;
  });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Never the whole value: it may be large, and nested deeper than the stack. */
function print(value: unknown): string {
  if (typeof value === "string") return `'${value.slice(0, 80)}'`;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "[…]" : "{…}";
  return String(value);
}
