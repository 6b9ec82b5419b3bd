import process from "node:process";
import { OWN } from "../../src/names.ts";
import type { HandlerRecord, ServiceRecord } from "./register.ts";

/** Commands that are shown at most; the UI has all handlers. */
const SHOWN_MAX = 12;
const KEY = "ada";
/** Of a schema, how deep a sample goes. */
const DEPTH_MAX = 4;

/** A `curl` for each public handler, with an input that fits its schema where it has one. */
export function callLines(ingress: string, services: readonly ServiceRecord[]): string[] {
  const lines = services.flatMap(({ name, ty, handlers }) =>
    handlers.filter((one) => one.public !== false).map((handler) => {
      const key = ty === "Service" ? "" : `/${KEY}`;
      return `curl ${ingress}/${OWN}/call/${name}${key}/${handler.name}${token()}${
        bodyOf(handler)
      }`;
    })
  );
  return lines.slice(0, SHOWN_MAX);
}

/** By name, so that no token stands in a terminal. */
function token(): string {
  return process.env["PERDURE_TOKEN"] ? ` -H "authorization: Bearer $PERDURE_TOKEN"` : "";
}

function bodyOf(
  { input_description: described, input_json_schema: schema }: HandlerRecord,
): string {
  if (schema === undefined && described === "none") return " -X POST";
  const json = JSON.stringify(sampleOf(schema) ?? "world");
  return ` --json '${json.replaceAll("'", `'\\''`)}'`;
}

/** A value that fits a JSON Schema, as far as its simple keywords say. Undefined: nothing is said. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (typeof schema !== "object" || schema === null || depth > DEPTH_MAX) return undefined;
  const { type, properties, required, items, anyOf, oneOf, examples, enum: values, minItems } =
    schema as Schema;
  if ("const" in schema) return schema.const;
  if ("default" in schema) return schema.default;
  const given = examples ?? values ?? [];
  if (given.length > 0) return given[0];
  const [either] = anyOf ?? oneOf ?? [];
  if (either !== undefined) return sampleOf(either, depth + 1);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === "object") return objectOf(properties ?? {}, required ?? [], depth);
  if (kind === "array") return minItems ? [sampleOf(items, depth + 1) ?? null] : [];
  return SIMPLE[kind ?? ""];
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  readonly items?: unknown;
  readonly anyOf?: readonly unknown[];
  readonly oneOf?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly minItems?: number;
}

const SIMPLE: Readonly<Record<string, unknown>> = {
  string: "world",
  number: 1,
  integer: 1,
  boolean: true,
  null: null,
};

function objectOf(
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[],
  depth: number,
): Record<string, unknown> {
  const fields = Object.entries(properties).filter(([name]) => required.includes(name));
  return Object.fromEntries(
    fields.map(([name, schema]) => [name, sampleOf(schema, depth + 1) ?? "world"]),
  );
}
