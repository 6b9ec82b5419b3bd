import type { Infer } from "superstruct";
import type { StateEdit } from "../model/state_edit.ts";
import { wrongShape } from "./refusals.ts";
import { described, fields, maybe, plain, text, withDescription } from "./shapes.ts";
import { record, unknown } from "superstruct";

const value = {
  anyOf: [
    { type: "array", items: { type: "integer", minimum: 0, maximum: 255 } },
    { type: "string" },
  ],
};

/** The body of `POST /services/{name}/state` (docs/spec/admin.md#state-of-an-object). */
export const stateBody = fields({
  object_key: withDescription(text, "Key of the object or workflow."),
  new_state: described(plain(record(text, unknown())), {
    type: "object",
    additionalProperties: value,
    description: "All of its state to be: bytes, or a text that stands for its UTF-8.",
  }),
  version: withDescription(
    maybe(text),
    "Do nothing unless the state is still the one with this version: the base 64 of a SHA-256.",
  ),
  scope: withDescription(maybe(text), "Not available in this version: refused."),
});

const encoder = new TextEncoder();

/** Reads an edit. Throws a `Failure` 422 with the path to what are no bytes. */
export function parseEdit(
  { new_state: state, version }: Infer<typeof stateBody>,
): StateEdit {
  const pairs = Object.entries(state).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? encoder.encode(value) : bytesOf(name, value),
  }));
  return { pairs, ...(version != null && { version }) };
}

function bytesOf(name: string, value: unknown): Uint8Array {
  const path = `new_state.${name}`;
  if (!Array.isArray(value)) throw wrongShape(path, "expected a string or an array of bytes");
  const wrong = value.findIndex((one) => !Number.isInteger(one) || one < 0 || one > 255);
  if (wrong >= 0) throw wrongShape(`${path}.${wrong}`, "expected an integer from 0 to 255");
  return Uint8Array.from(value);
}
