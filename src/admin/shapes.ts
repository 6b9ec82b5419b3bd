import { define, nullable, optional, Struct } from "superstruct";

// Leaves with messages of their own: the library's would print the value, and a value nested deep
// enough, or with a `toString` of its own, cannot be printed.

/** Any string. */
export const text = define<string>(
  "text",
  (value) => typeof value === "string" || "expected a string",
);

export const flag = define<boolean>(
  "flag",
  (value) => typeof value === "boolean" || "expected a boolean",
);

/** An array of anything. */
export const list = define<readonly unknown[]>(
  "list",
  (value) => Array.isArray(value) || "expected an array",
);

/** A field that may be absent, or null, which means the same (http-api §3.4). */
export function maybe<T, S>(struct: Struct<T, S>) {
  return optional(nullable(struct));
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
