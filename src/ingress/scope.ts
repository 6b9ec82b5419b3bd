import { Failure } from "../errors.ts";

const COMPONENT_BYTES_MAX = 36;
const LIMIT_KEY_LEVELS_MAX = 2;
const encoder = new TextEncoder();

/** Throws `Failure` 400 unless this can be a scope (interfaces, Identifiers). */
export function checkScope(scope: string): void {
  const wrong = whatIsWrong(scope);
  if (wrong) throw Failure.plain(400, `bad scope value: ${wrong}`);
}

/**
 * Throws `Failure` 400 unless this is one or two levels of a limit key. A slash at the end is let
 * pass; the empty limit key is none (http-api §8).
 */
export function checkLimitKey(limitKey: string): void {
  if (limitKey === "") return;
  const levels = (limitKey.endsWith("/") ? limitKey.slice(0, -1) : limitKey).split("/");
  if (levels.length > LIMIT_KEY_LEVELS_MAX) {
    throw badLimitKey(
      `too many path components in the given limit-key (max ${LIMIT_KEY_LEVELS_MAX})`,
    );
  }
  for (const level of levels) {
    const wrong = whatIsWrong(level);
    if (wrong) throw badLimitKey(`invalid limit-key component: ${wrong}`);
  }
}

function whatIsWrong(value: string): string | undefined {
  if (value === "") return "value cannot be empty";
  const size = encoder.encode(value).length;
  if (size > COMPONENT_BYTES_MAX) {
    return `value too long: ${size} bytes (max ${COMPONENT_BYTES_MAX})`;
  }
  if (/^[a-zA-Z0-9_.-]+$/.test(value)) return undefined;
  return "value contains characters outside the allowed set [a-zA-Z0-9_.-]";
}

function badLimitKey(detail: string): Failure {
  return Failure.plain(400, `invalid limit-key: ${detail}`);
}
