import { Failure } from "../errors.ts";
import type { InputRule } from "../model/schema.ts";

const ANY: InputRule = { required: false, contentType: "*/*" };

/**
 * Checks a request against the input rule of the manifest (docs/spec/ingress.md#input-rules).
 * A request without body and content type fits every rule that is not `required`; any other must
 * have the declared content type. `rule` undefined: anything goes that has a content type. The
 * body itself is never parsed. Throws `Failure` 400.
 */
export function checkInput(
  rule: InputRule | undefined,
  contentType: string | undefined,
  isEmpty: boolean,
): void {
  const { required, contentType: declared, jsonSchema } = rule ?? ANY;
  if (!required && isEmpty && contentType === undefined) return;
  if (declared === undefined) throw refused(required ? BAD_RULE : notEmpty(contentType));
  if (contentType === undefined) throw refused("Empty content-type");
  if (!matches(declared, contentType)) {
    throw refused(`Content-type '${contentType}' does not match '${declared}'`);
  }
  if (isEmpty && jsonSchema !== undefined) throw refused("Empty body not allowed");
}

const BAD_RULE = "Bad configuration of the input validation rules";

/** The words are the reference's, down to the way its language prints an absent value. */
function notEmpty(contentType: string | undefined): string {
  const found = contentType === undefined ? "None" : `Some(${JSON.stringify(contentType)})`;
  return `Expected body and content-type to be empty, but wasn't with content-type '${found}'`;
}

/** Wildcards count on the declared side only; case counts, parameters do not on either side. */
function matches(declared: string, contentType: string): boolean {
  if (declared === contentType) return true;
  const wanted = withoutParameters(declared);
  if (wanted === "*/*") return true;
  const type = withoutParameters(contentType);
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

function withoutParameters(contentType: string): string {
  const end = contentType.indexOf(";");
  return end < 0 ? contentType : contentType.slice(0, end).trim();
}

function refused(detail: string): Failure {
  return Failure.plain(400, `input validation error: ${detail}`);
}
