import { scopeProblem } from "./scope.ts";

/** Components of a pattern: a scope, and the levels of a limit key. */
const COMPONENTS_MAX = 3;

/**
 * The canonical form of the pattern of a rule, or why it is invalid, in the words of the reference
 * (docs/spec/admin.md#rules): one to three components, each `*`, a scope or a level of a limit key.
 * White space around them and one slash at the end are dropped.
 */
export function readPattern(
  text: string,
): { readonly pattern: string } | { readonly problem: string } {
  const trimmed = text.trim();
  if (trimmed === "") return { problem: "pattern cannot be empty" };
  const components = trimmed.replace(/\/$/, "").split("/").map((one) => one.trim());
  if (components.length > COMPONENTS_MAX) {
    return { problem: `too many path components (max ${COMPONENTS_MAX})` };
  }
  for (const component of components) {
    const problem = component === "*" ? undefined : scopeProblem(component);
    if (problem) return { problem: `invalid component: ${problem}` };
  }
  return { pattern: components.join("/") };
}
