import { array, define, nullable, optional, record, Struct, type } from "superstruct";
import { BadDuration, nanosecondsIn, parseDuration, printDuration } from "../model/duration.ts";
import type { Json } from "./json.ts";

// Leaves with messages of their own: the library's would print the value, and a value nested deep
// enough, or with a `toString` of its own, cannot be printed.

/** What each struct is as a JSON schema: how the same table that checks also describes. */
const schemas = new WeakMap<object, Json>();
/** Structs of fields that may be absent. */
const optionals = new WeakSet<object>();

/** Describes a struct as a JSON schema (draft 2020-12). Answers the struct. */
export function described<T extends object>(struct: T, schema: Json): T {
  schemas.set(struct, schema);
  return struct;
}

/** The same struct with a sentence about it. */
export function withDescription<T, S>(struct: Struct<T, S>, description: string): Struct<T, S> {
  const copy = described(new Struct(struct), { ...jsonSchemaOf(struct), description });
  if (optionals.has(struct)) optionals.add(copy);
  return copy;
}

/** A struct as a JSON schema: `{}`, which is anything, of one without a description. */
export function jsonSchemaOf(struct: object): Json {
  return schemas.get(struct) ?? {};
}

/** Any string. */
export const text = described(
  define<string>("text", (value) => typeof value === "string" || "expected a string"),
  { type: "string" },
);

export const flag = described(
  define<boolean>("flag", (value) => typeof value === "boolean" || "expected a boolean"),
  { type: "boolean" },
);

/**
 * A duration as people write it: the text, which `parseDuration` can read
 * (docs/spec/ingress.md#durations).
 */
export const duration = described(
  define<string>("duration", (value) => {
    if (typeof value !== "string") return 'expected a duration such as "1h 30m" or "PT1H30M"';
    try {
      return parseDuration(value) >= 0;
    } catch (cause) {
      if (!(cause instanceof BadDuration)) throw cause;
      return cause.message;
    }
  }),
  { type: "string", examples: ["1h 30m", "PT1H30M"] },
);

/** A duration, of at least `msMin` and at most `msMax` milliseconds. */
export function durationBetween(msMin: number, msMax: number) {
  const [least, most] = [printDuration(msMin), printDuration(msMax)];
  const expected = `expected a duration from ${least} to ${most}`;
  return described(
    define<string>("durationBetween", (value, context) => {
      const [problem] = duration.validator(value, context);
      if (problem) return problem.message ?? expected;
      const text = value as string;
      // Before it is rounded up to whole milliseconds.
      if (nanosecondsIn(text) < BigInt(msMin) * NS_PER_MS) return expected;
      return parseDuration(text) <= msMax || expected;
    }),
    { type: "string", examples: [least, most] },
  );
}

const NS_PER_MS = 1_000_000n;

/** A whole number in JSON. */
export function wholeNumber(min: number, max: number) {
  return described(
    define<number>(
      "wholeNumber",
      (value) =>
        Number.isInteger(value) && Number(value) >= min && Number(value) <= max ||
        `expected an integer from ${min} to ${max}`,
    ),
    { type: "integer", minimum: min, maximum: max },
  );
}

/** A string of up to `max` characters. */
export function textUpTo(max: number) {
  return described(
    define<string>("textUpTo", (value) =>
      typeof value === "string" && value.length <= max ||
      `expected a string of up to ${max} characters`),
    { type: "string", maxLength: max },
  );
}

/** An array of anything. */
export const list = described(
  define<readonly unknown[]>("list", (value) => Array.isArray(value) || "expected an array"),
  { type: "array" },
);

/** An array of these. */
export function listOf<T, S>(struct: Struct<T, S>) {
  const all = array(struct);
  const validator = (value: unknown) => Array.isArray(value) || "expected an array";
  return described(new Struct({ ...all, validator }), {
    type: "array",
    items: jsonSchemaOf(struct),
  });
}

/** An object of strings by any name. */
export const texts = described(plain(record(text, text)), {
  type: "object",
  additionalProperties: jsonSchemaOf(text),
});

const reference = { env: jsonSchemaOf(text) };

/** The value of a header, or the variable of the server's environment that has it. */
const headerValue = described(
  define<string | { readonly env: string }>(
    "headerValue",
    (value) =>
      typeof value === "string" || isReference(value) ||
      'expected a string, or an object such as {"env": "NAME"}',
  ),
  {
    anyOf: [jsonSchemaOf(text), {
      type: "object",
      properties: reference,
      required: Object.keys(reference),
      additionalProperties: false,
    }],
  },
);

function isReference(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return entries.length === 1 && entries[0]?.[0] === "env" && typeof entries[0][1] === "string";
}

/** Headers by their names. */
export const headerValues = described(plain(record(text, headerValue)), {
  type: "object",
  additionalProperties: jsonSchemaOf(headerValue),
});

/**
 * A field that may be absent, or null, which means the same
 * (docs/spec/admin.md#registration-of-deployments).
 */
export function maybe<T, S>(struct: Struct<T, S>) {
  const field = optional(nullable(struct));
  optionals.add(field);
  return described(field, orNull(jsonSchemaOf(struct)));
}

/** A field that may be absent, and not null. */
export function absent<T, S>(struct: Struct<T, S>) {
  const field = optional(struct);
  optionals.add(field);
  return described(field, jsonSchemaOf(struct));
}

/** An object with these fields. Others are ignored. */
export function fields<S extends Parameters<typeof type>[0]>(schema: S) {
  const properties = Object.entries(schema).map(([name, one]) => [name, jsonSchemaOf(one)]);
  const required = Object.keys(schema).filter((name) => !optionals.has(schema[name] ?? {}));
  return described(plain(type(schema)), {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  });
}

/** A struct of a plain object, with a message that does not print what came instead. */
export function plain<T, S>(struct: Struct<T, S>): Struct<T, S> {
  return new Struct({
    ...struct,
    validator: (value) =>
      (typeof value === "object" && value !== null && !Array.isArray(value)) ||
      "expected an object",
  });
}

function orNull(schema: Json): Json {
  const { type: one } = schema;
  return typeof one === "string"
    ? { ...schema, type: [one, "null"] }
    : { anyOf: [schema, { type: "null" }] };
}
