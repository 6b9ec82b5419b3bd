import type { Infer } from "superstruct";
import { Failure } from "../errors.ts";
import type { FlowControl, ServiceSchema } from "../model/schema.ts";
import { scopeProblem } from "../model/scope.ts";
import type { StateEdit } from "../model/state_edit.ts";
import { wrongShape } from "./refusals.ts";
import { described, fields, maybe, plain, text, withDescription } from "./shapes.ts";
import { record, unknown } from "superstruct";

/** The JSON schema of a value: bytes, or a text that stands for its UTF-8. */
export const value = {
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
  scope: withDescription(
    maybe(text),
    "The scope of the object or workflow. It needs the setting `experimental-enable-vqueues`, and " +
      "of an object also `experimental-enable-scoped-virtual-objects`.",
  ),
});

const encoder = new TextEncoder();

/** Reads an edit. Throws a `Failure` 422 with the path to what are no bytes. */
export function parseEdit(
  { new_state: state, version }: Infer<typeof stateBody>,
): StateEdit {
  const pairs = Object.entries(state).map(([name, value]) => ({
    name,
    value: bytesOf(`new_state.${name}`, value),
  }));
  return { pairs, ...(version != null && { version }) };
}

/**
 * Throws a `Failure` 400 unless there may be a service of this type in this scope
 * (docs/spec/ingress.md#scopes). `allowed`: undefined while flow control is off.
 */
export function checkScope(
  scope: string,
  type: ServiceSchema["type"],
  allowed: FlowControl | undefined,
): void {
  if (type === "virtual_object" && !allowed?.scopedObjects) {
    throw Failure.plain(400, "scope is not supported for Virtual Object targets");
  }
  if (!allowed?.scopes) {
    throw Failure.plain(400, "scoped invocations require vqueues to be enabled");
  }
  const problem = scopeProblem(scope);
  if (problem) throw Failure.plain(400, `bad scope: ${problem}`);
}

/** The bytes of a value at a path of a body. Throws a `Failure` 422 for what is neither text nor bytes. */
export function bytesOf(path: string, value: unknown): Uint8Array {
  if (typeof value === "string") return encoder.encode(value);
  if (!Array.isArray(value)) throw wrongShape(path, "expected a string or an array of bytes");
  const wrong = value.findIndex((one) => !Number.isInteger(one) || one < 0 || one > 255);
  if (wrong >= 0) throw wrongShape(`${path}.${wrong}`, "expected an integer from 0 to 255");
  return Uint8Array.from(value);
}
