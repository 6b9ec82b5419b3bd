/** What a form needs to know of a JSON schema. Anything else of a schema is checked by the handler. */
export type Shape =
  | { readonly kind: "text"; readonly isLong: boolean }
  | { readonly kind: "number"; readonly isInteger: boolean }
  | { readonly kind: "flag" }
  | { readonly kind: "choice"; readonly values: readonly unknown[] }
  | { readonly kind: "list"; readonly item: Field }
  | { readonly kind: "object"; readonly fields: readonly Field[] }
  | { readonly kind: "json" };

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly about: string | undefined;
  readonly isRequired: boolean;
  readonly shape: Shape;
  /** What the field begins with. Undefined: nothing. */
  readonly initial: unknown;
}

type Schema = Readonly<Record<string, unknown>>;

/** Levels of a form. Deeper parts are edited as JSON, as are schemas that contain themselves. */
const DEPTH_MAX = 6;
/** Fields of a form. The parts beyond are edited as JSON: a schema may multiply itself by references. */
const FIELDS_MAX = 300;

/** The fields of a schema, or undefined when it does not say what the value is. */
export function fieldOf(schema: unknown): Field | undefined {
  if (!isSchema(schema)) return undefined;
  const budget = { left: FIELDS_MAX };
  const field = read(schema, { root: schema, budget, depth: 0, name: "" });
  return field.shape.kind === "json" ? undefined : field;
}

interface Place {
  readonly root: Schema;
  /** How many more fields the form may have. */
  readonly budget: { left: number };
  readonly depth: number;
  readonly name: string;
  readonly isRequired?: boolean;
}

function read(given: unknown, place: Place): Field {
  const schema = isSchema(given) ? resolved(given, place.root) : {};
  const { title, description, default: initial } = schema;
  const { name, isRequired = false } = place;
  return {
    ...{ name, isRequired },
    title: name === "" && typeof title === "string" ? title : name,
    about: typeof description === "string" ? description : undefined,
    shape: shapeOf(schema, place),
    initial: initial ?? schema["const"],
  };
}

function shapeOf(schema: Schema, { root, budget, depth }: Place): Shape {
  const { type, enum: values, properties, items, required, format, maxLength } = schema;
  if (depth > DEPTH_MAX || budget.left-- <= 0) return { kind: "json" };
  if (schema["const"] !== undefined) return { kind: "choice", values: [schema["const"]] };
  if (Array.isArray(values) && values.length > 0) return { kind: "choice", values };
  const names = Array.isArray(required) ? required : [];
  switch (onlyType(type)) {
    case "string":
      return { kind: "text", isLong: format === undefined && maxLength === undefined };
    case "integer":
    case "number":
      return { kind: "number", isInteger: type === "integer" };
    case "boolean":
      return { kind: "flag" };
    case "array":
      return { kind: "list", item: read(items, { root, budget, depth: depth + 1, name: "" }) };
    case "object": {
      if (!isSchema(properties)) return { kind: "json" };
      const fields = Object.entries(properties).map(([name, part]) =>
        read(part, { root, budget, depth: depth + 1, name, isRequired: names.includes(name) })
      );
      return { kind: "object", fields };
    }
    default:
      return { kind: "json" };
  }
}

/** The one type beside null, which is what an optional value may be. */
function onlyType(type: unknown): unknown {
  if (!Array.isArray(type)) return type;
  const types = type.filter((one) => one !== "null");
  return types.length === 1 ? types[0] : undefined;
}

/** A schema with its reference into the document followed. One that leads to itself means anything. */
function resolved(schema: Schema, root: Schema): Schema {
  const seen = new Set<unknown>();
  let found = schema;
  while (typeof found["$ref"] === "string") {
    const at = found["$ref"];
    if (seen.has(at) || !at.startsWith("#")) return {};
    seen.add(at);
    const target = at.slice(1).split("/").filter((part) => part !== "").reduce<unknown>(
      (part, name) => isSchema(part) ? part[unescaped(name)] : undefined,
      root,
    );
    if (!isSchema(target)) return {};
    found = target;
  }
  return found;
}

function unescaped(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // It is no escaped text: then it is a name as it stands.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value that a form begins with: what the schema gives, and what is required. */
export function initialOf({ initial, isRequired, shape, name }: Field): unknown {
  if (initial !== undefined) return initial;
  if (!isRequired && name !== "") return undefined;
  switch (shape.kind) {
    case "object": {
      const entries = shape.fields.map((one) => [one.name, initialOf(one)] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
    case "list":
      return [];
    case "flag":
      return false;
    case "choice":
      return shape.values[0];
    case "text":
      return "";
    default:
      return undefined;
  }
}
