import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldOf, initialOf } from "../../src/ui/pages/services/playground/schema.ts";

/** A schema that refers to itself in each of its fields, often enough to be larger than any form. */
const ENDLESS = {
  $ref: "#/$defs/node",
  $defs: {
    node: {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`child ${at}`, { $ref: "#/$defs/node" }]),
      ),
    },
  },
};

function countOf(field: ReturnType<typeof fieldOf>): number {
  if (field?.shape.kind !== "object") return 1;
  return field.shape.fields.reduce((sum, one) => sum + countOf(one), 1);
}

describe("a form of a JSON schema", () => {
  test("begins with defaults and with what is required", () => {
    const field = fieldOf({
      type: "object",
      required: ["name", "tags", "size", "part"],
      properties: {
        name: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
        size: { enum: ["S", "M"] },
        count: { type: ["integer", "null"], default: 3 },
        note: { type: "string" },
        part: { $ref: "#/definitions/a~1b" },
      },
      definitions: { "a/b": { type: "object", properties: { is: { const: true } } } },
    });
    expect(initialOf(field!)).toEqual({
      ...{ name: "", tags: [], size: "S", count: 3 },
      part: { is: true },
    });
  });

  test("is none where the schema says nothing of the value", () => {
    for (const schema of [undefined, null, true, {}, { anyOf: [] }, { $ref: "#/none" }, "x"]) {
      expect(fieldOf(schema)).toBeUndefined();
    }
  });

  test("ends, however often the schema refers to itself", () => {
    expect(countOf(fieldOf(ENDLESS))).toBeLessThan(10_000);
    expect(fieldOf({ $ref: "#/a", a: { $ref: "#/b" }, b: { $ref: "#/a" } })).toBeUndefined();
  });

  test("comes of any JSON without a failure", () => {
    const names = ["type", "properties", "items", "$ref", "enum", "required", "const", "a"];
    const values = fc.constantFrom("object", "array", "string", "#/a", "#/%zz", "#", 1, null);
    const schema = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        values,
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("node"), { maxKeys: 5 }),
      ),
    })).node;
    fc.assert(fc.property(schema, (one) => {
      const field = fieldOf(one);
      if (field) JSON.stringify(initialOf(field));
    }));
  });
});
