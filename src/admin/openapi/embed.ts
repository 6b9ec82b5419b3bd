import type { Json } from "../json.ts";

/** Keywords of JSON schemas whose values are schemas by name, and those whose values are data. */
const NAMED: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "example", "examples"]);
/** What a document of its own says of itself. Within another one it would mean something else. */
const OF_DOCUMENTS: ReadonlySet<string> = new Set(["$schema", "$id", "id"]);

/** Schemas nested deeper are left out, as anything at all. */
const DEPTH_MAX = 200;

/**
 * A JSON schema as a part of another document, where it is to be found at `place`
 * (`#/components/schemas/Name`): references to itself are made to point there.
 */
export function embed(schema: unknown, place: string): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const id = (schema as Json)["$id"];
  return new Embedding(place, typeof id === "string" ? id.replace(/#$/, "") : undefined)
    .schema(schema, 0);
}

class Embedding {
  readonly #place: string;
  /** What the schema calls itself. */
  readonly #id: string | undefined;

  constructor(place: string, id: string | undefined) {
    this.#place = place;
    this.#id = id;
  }

  schema(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (depth > DEPTH_MAX) return {};
    if (Array.isArray(value)) return value.map((one) => this.schema(one, depth + 1));
    // A part with an id is a document of its own: its references are to itself.
    if (depth > 0 && typeof (value as Json)["$id"] === "string") return value;
    const entries = Object.entries(value).flatMap(([keyword, inner]) => {
      if (depth === 0 && OF_DOCUMENTS.has(keyword)) return [];
      return [[keyword, this.#keyword(keyword, inner, depth)] as const];
    });
    return Object.fromEntries(entries);
  }

  #keyword(keyword: string, value: unknown, depth: number): unknown {
    if (DATA.has(keyword)) return value;
    if (keyword === "$ref" && typeof value === "string") return this.#reference(value);
    const isNamed = NAMED.has(keyword) && typeof value === "object" && value !== null;
    if (!isNamed) return this.schema(value, depth + 1);
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.schema(one, depth + 1)]),
    );
  }

  /** Pointers only: a name given by `$anchor` is found wherever it stands. */
  #reference(reference: string): string {
    const local = this.#id !== undefined && reference.startsWith(this.#id)
      ? reference.slice(this.#id.length) || "#"
      : reference;
    return local === "#" || local.startsWith("#/") ? this.#place + local.slice(1) : local;
  }
}
