/** UTF-8 bytes of a scope, and of each level of a limit key. */
const SCOPE_BYTES_MAX = 36;
const encoder = new TextEncoder();

/** Levels of a limit key. */
const LEVELS_MAX = 2;

/**
 * The canonical form of a limit key, without a slash at its end, or why it is invalid, in the words of
 * the reference (docs/spec/ingress.md#scopes). Undefined: it is empty, so there is none.
 */
export function readLimitKey(
  text: string,
): { readonly limitKey: string } | { readonly problem: string } | undefined {
  if (text === "") return undefined;
  const limitKey = text.endsWith("/") ? text.slice(0, -1) : text;
  const levels = limitKey.split("/");
  if (levels.length > LEVELS_MAX) {
    return { problem: `too many path components in the given limit-key (max ${LEVELS_MAX})` };
  }
  for (const level of levels) {
    const problem = scopeProblem(level);
    if (problem) return { problem: `invalid limit-key component: ${problem}` };
  }
  return { limitKey };
}

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
