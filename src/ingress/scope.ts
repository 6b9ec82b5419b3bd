import { Failure } from "../errors.ts";
import { scopeProblem } from "../model/scope.ts";

const LIMIT_KEY_LEVELS_MAX = 2;

/** Throws `Failure` 400 unless this can be a scope (docs/spec/ingress.md#scopes). */
export function checkScope(scope: string): void {
  const wrong = scopeProblem(scope);
  if (wrong) throw Failure.plain(400, `bad scope value: ${wrong}`);
}

/**
 * Throws `Failure` 400 unless this is one or two levels of a limit key. A slash at the end is let
 * pass; the empty limit key is none (docs/spec/ingress.md#scopes).
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
    const wrong = scopeProblem(level);
    if (wrong) throw badLimitKey(`invalid limit-key component: ${wrong}`);
  }
}

function badLimitKey(detail: string): Failure {
  return Failure.plain(400, `invalid limit-key: ${detail}`);
}
