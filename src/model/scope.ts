/** UTF-8 bytes of a scope, and of each level of a limit key. */
const SCOPE_BYTES_MAX = 36;
const encoder = new TextEncoder();

/**
 * Why a text is no valid scope, in the words of the reference (docs/spec/ingress.md#scopes). Undefined:
 * it is valid.
 */
export function scopeProblem(text: string): string | undefined {
  if (text === "") return "value cannot be empty";
  const size = encoder.encode(text).length;
  if (size > SCOPE_BYTES_MAX) return `value too long: ${size} bytes (max ${SCOPE_BYTES_MAX})`;
  if (/^[a-zA-Z0-9_.-]+$/.test(text)) return undefined;
  return "value contains characters outside the allowed set [a-zA-Z0-9_.-]";
}
